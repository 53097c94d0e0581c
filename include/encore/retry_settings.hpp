// All numbers of a policy in one option, to be set at run time from a configuration.
#pragma once
#include <encore/backoff.hpp>
#include <encore/backoff_shapes.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/jitter.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/limits.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD {

enum class BackoffShape : std::uint8_t { constant, linear, exponential, fibonacci };
enum class JitterShape : std::uint8_t { none, full, equal, proportional, decorrelated };

/// The waits of `RetrySettings`, as a backoff whose shape is chosen at run time. (C9)
struct ChosenBackoff {
  using role = encore::role::Backoff;
  BackoffShape shape = BackoffShape::exponential;
  ExponentialBackoff numbers{};

  constexpr Duration operator()(int retry) const noexcept {
    const auto& [initial, factor, most, least] = numbers;
    if (retry <= 0)
      return clamp(initial, least, most);  // the same for all shapes, and jitter needs it at each wait
    switch (shape) {
      case BackoffShape::linear: return LinearBackoff{initial, Duration{initial}, most, least}(retry);
      case BackoffShape::fibonacci: return FibonacciBackoff{initial, most, least}(retry);
      case BackoffShape::exponential: return numbers(retry);
      case BackoffShape::constant: break;
    }
    return clamp(initial, least, most);
  }
  constexpr auto cap() const noexcept { return numbers.max_delay; }
  constexpr auto floor() const noexcept { return numbers.min_delay; }

  /// The generator of the exponential shape; the other shapes are as cheap to compute directly.
  class Generator {
   public:
    constexpr Generator(const ChosenBackoff& backoff, int retry) noexcept
        : exponential_{backoff.numbers, backoff.shape == BackoffShape::exponential ? retry : 0} {}
    constexpr Duration next(const ChosenBackoff& backoff, int retry) noexcept {
      if (backoff.shape == BackoffShape::exponential) [[likely]]
        return exponential_.next(backoff.numbers, retry);
      return backoff(retry);
    }

   private:
    ExponentialBackoff::Generator exponential_;
  };
};
static_assert(Backoff<ChosenBackoff>);

/// The same for jitter.
struct ChosenJitter {
  using role = encore::role::Jitter;
  JitterShape shape = JitterShape::proportional;
  Share<"ratio"> ratio = 0.25;  // as in ProportionalJitter, so that it is validated only once

  constexpr Duration operator()(const JitterInput& input) const noexcept {
    switch (shape) {
      case JitterShape::none: return input.delay;
      case JitterShape::full: return FullJitter{}(input);
      case JitterShape::equal: return EqualJitter{}(input);
      case JitterShape::decorrelated: return DecorrelatedJitter{}(input);
      case JitterShape::proportional: break;
    }
    return ProportionalJitter{ratio}(input);
  }
  constexpr double hint_share() const noexcept {
    if (shape == JitterShape::none) return 0.0;
    return shape == JitterShape::proportional ? double{ratio} : double{ProportionalJitter{}.ratio};
  }
};
static_assert(Jitter<ChosenJitter>);

/// An optional time budget or attempt timeout.
struct OptionalTimeBudget {
  using role = encore::role::TimeBudget;
  std::optional<Duration> value{};
};
struct OptionalAttemptTimeout {
  using role = encore::role::AttemptTimeout;
  std::optional<Duration> value{};
};
struct OptionalSeed {
  using role = encore::role::Seed;
  std::optional<std::uint64_t> value{};
};

// Deliberately not constexpr, as in setting.hpp.
[[noreturn]] inline void the_settings_contradict_each_other(std::string_view field, Duration value,
                                                            std::string_view than, Duration limit) {
  const auto in_seconds = [](Duration time) {
    char text[32];
    std::snprintf(text, sizeof text, "%gs", static_cast<double>(time.count()) / 1e9);
    return std::string{text};
  };
  refuse_setting(field, in_seconds(value),
                 "is invalid: it is more than " + std::string{than} + " = " + in_seconds(limit));
}
[[noreturn]] inline void the_settings_contradict_each_other(int max_retries) {
  refuse_setting("unlimited_retries", "true",
                 "is invalid: max_retries = " + std::to_string(max_retries) + " is a limit");
}

/// Every number of a policy, to be read from a configuration and changed without changing the policy's type:
///   RetryPolicy policy{RetryOn<TimeoutError>{}, settings};
///   policy = policy.with(reloaded);
/// Setting a field out of its range throws `std::invalid_argument` with the field's name and value. Making a policy throws it
/// for fields that contradict each other: `unlimited_retries` with `max_retries`, or a minimum over its maximum, for an
/// attempt's time or a delay. An `initial_delay` over `max_delay` is allowed and capped. A time limit of 0 leaves no time at
/// all; leave it empty for no limit. Fields that are not set have the policy's defaults (A1, C3). It fills the roles of count
/// limit, time limits, backoff, jitter, hint cap and seed, so no option with one of these roles can be given in addition.
struct RetrySettings {
  using role = encore::role::Settings;

  std::optional<Count<"max_retries">> max_retries{};  ///< absent: 2, or no limit if there is a time budget
  bool unlimited_retries = false;
  std::optional<Span<"time_budget">> time_budget{};
  std::optional<Span<"attempt_timeout">> attempt_timeout{};
  Span<"min_attempt_time"> min_attempt_time = Duration::zero();  ///< at most the two limits above
  BackoffShape backoff = BackoffShape::exponential;
  ExponentialBackoff
      delays{};  ///< initial_delay (also the linear step), factor (exponential), max_delay, min_delay
  JitterShape jitter = JitterShape::proportional;
  Share<"jitter_ratio"> jitter_ratio = 0.25;  ///< for proportional jitter
  HintCap hint_cap{};
  std::optional<std::uint64_t> seed{};

  using parts = Options<CountLimit, OptionalTimeBudget, MinAttemptTime, OptionalAttemptTimeout, ChosenBackoff,
                        ChosenJitter, HintCap, OptionalSeed>;

  /// The option for one of its roles. Throws `std::invalid_argument` if fields contradict each other.
  template <class Role>
  constexpr auto part() const {
    if constexpr (std::same_as<Role, encore::role::CountLimit>)
      return count_limit();
    else if constexpr (std::same_as<Role, encore::role::TimeBudget>)
      return OptionalTimeBudget{as_duration(time_budget)};
    else if constexpr (std::same_as<Role, encore::role::MinAttemptTime>)
      return MinAttemptTime{checked_least_attempt_time()};
    else if constexpr (std::same_as<Role, encore::role::AttemptTimeout>)
      return OptionalAttemptTimeout{as_duration(attempt_timeout)};
    else if constexpr (std::same_as<Role, encore::role::Backoff>)
      return ChosenBackoff{backoff, checked_delays()};
    else if constexpr (std::same_as<Role, encore::role::Jitter>)
      return ChosenJitter{jitter, double{jitter_ratio}};
    else if constexpr (std::same_as<Role, encore::role::HintCap>)
      return hint_cap;
    else
      return OptionalSeed{seed};
  }

 private:
  static constexpr void refuse_above(std::string_view field, Duration value, std::string_view than,
                                     const std::optional<Duration>& limit) {
    if (limit && value > *limit) the_settings_contradict_each_other(field, value, than, *limit);
  }
  constexpr ExponentialBackoff checked_delays() const {
    refuse_above("min_delay", delays.min_delay, "max_delay", Duration{delays.max_delay});
    return delays;
  }
  constexpr Duration checked_least_attempt_time() const {
    refuse_above("min_attempt_time", min_attempt_time, "attempt_timeout", as_duration(attempt_timeout));
    refuse_above("min_attempt_time", min_attempt_time, "time_budget", as_duration(time_budget));
    return min_attempt_time;
  }
  constexpr CountLimit count_limit() const {
    if (unlimited_retries && max_retries) the_settings_contradict_each_other(int{*max_retries});
    if (unlimited_retries) return UnlimitedRetries{};
    if (max_retries) return MaxRetries{int{*max_retries}};
    return {};
  }
  template <class Setting>
  static constexpr std::optional<Duration> as_duration(const std::optional<Setting>& setting) noexcept {
    if (!setting) return std::nullopt;
    return Duration{*setting};
  }
};

}  // namespace encore ENCORE_BUILD

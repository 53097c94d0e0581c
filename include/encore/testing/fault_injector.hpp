// Failures, lost results and delays at chosen rates, the same in every run.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/random.hpp>
#include <encore/duration.hpp>
#include <encore/limits.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/step.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::testing {

/// How often something goes wrong. The first two exclude each other, so their sum is at most 1; a delay may come with either.
struct FaultOptions {
  Share<"failure_share"> failure_share = 0.0;          ///< the attempt fails, and the callable does not run
  Share<"lost_result_share"> lost_result_share = 0.0;  ///< the callable runs, then the attempt fails
  Share<"delay_share"> delay_share = 0.0;              ///< fake time passes before the attempt
  Span<"max_delay"> max_delay = Duration::zero();      ///< each delay is uniform between 0 and this
};

/// What happens to one attempt.
struct Fault {
  enum class Kind : std::uint8_t {
    none,
    failure,
    lost_result,  ///< the work is done and its result dropped: the caller cannot know
  };
  Kind kind = Kind::none;
  Duration delay{};
  friend constexpr bool operator==(const Fault&, const Fault&) noexcept = default;
};

/// The faults injected so far.
struct InjectedFaults {
  int attempts = 0;
  int failures = 0;
  int lost_results = 0;
  int delays = 0;
  friend constexpr bool operator==(const InjectedFaults&, const InjectedFaults&) noexcept = default;
};

/// Wraps callables so that some of their attempts go wrong. Which ones depends on seed, call id and ordinal only, so a run
/// repeats whatever the timing of its threads. Give the calls ids. Thread-safe; it must outlive what it wraps.
///   FaultInjector faults{Seed{7}, {.failure_share = 0.3, .lost_result_share = 0.05}};
///   policy.run({.id = "call-17"}, faults.wrap<TimeoutError>(lookup, "injected"));
class FaultInjector {
 public:
  /// Throws `std::invalid_argument` for shares that sum to more than 1, and for delays without a clock.
  FaultInjector(Seed seed, const FaultOptions& options) : FaultInjector{nullptr, seed, options} {}
  FaultInjector(FakeClock& clock, Seed seed, const FaultOptions& options)
      : FaultInjector{&clock, seed, options} {}
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  /// What will happen to this attempt. Pure; thread-safe.
  Fault fault(std::string_view call_id, int ordinal) const noexcept {
    shared::Random random{
        shared::mix(shared::stream_of(seed_, call_id) + static_cast<std::uint64_t>(ordinal))};
    const auto kind = random.draw();
    const auto delayed = random.draw() < options_.delay_share;
    const auto delay = random.draw() * static_cast<double>(Duration{options_.max_delay}.count());
    Fault fault;
    if (kind < options_.failure_share)
      fault.kind = Fault::Kind::failure;
    else if (kind < options_.failure_share + options_.lost_result_share)
      fault.kind = Fault::Kind::lost_result;
    if (delayed) fault.delay = Duration{static_cast<Duration::rep>(delay)};
    return fault;
  }

  InjectedFaults injected() const {
    const std::lock_guard lock{mutex_};
    return injected_;
  }

  /// Wraps `function`, so that some calls throw an `E` made of these arguments. A named function is referred to, a temporary one
  /// is moved. The wrapper takes the attempt as its last argument, as a policy passes it; `function` gets it if it takes it.
  /// A lost result marks the attempt as dispatched, unless `function` marks it itself: without an answer, its outcome is unknown.
  /// (I3)
  template <class E, class F, class... Args>
  auto wrap(F&& function, Args&&... arguments) {
    using Error = detail::Throws<E, std::decay_t<Args>...>;
    return Faulty<F, Error>{*this, std::forward<F>(function), Error{{std::forward<Args>(arguments)...}}};
  }

 private:
  template <class F, class Error>
  class Faulty {
   public:
    Faulty(FaultInjector& injector, F&& function, Error error)
        : injector_{&injector},
          function_(std::forward<F>(function)),
          error_(std::move(error)) {}

    template <class... Args>
      requires(
          sizeof...(Args) > 0 &&
          std::same_as<std::tuple_element_t<sizeof...(Args) - 1, std::tuple<std::remove_cvref_t<Args>...>>,
                       Attempt>)
    decltype(auto) operator()(Args&&... arguments) {
      const auto all = std::forward_as_tuple(arguments...);
      const Attempt& attempt = std::get<sizeof...(Args) - 1>(all);
      const auto kind = injector_->inject(attempt);
      if (kind == Fault::Kind::failure) error_.template play<void>(attempt, false);
      constexpr std::make_index_sequence<sizeof...(Args) - 1> own{};
      if (kind == Fault::Kind::lost_result) {
        static_cast<void>(call(all, attempt, own));
        const auto& notes = attempt.notes();
        if (!notes.dispatched() && !notes.answered() && !notes.not_run()) attempt.mark_dispatched();
        error_.template play<void>(attempt, false);
      }
      return call(all, attempt, own);
    }

   private:
    template <class Arguments, std::size_t... I>
    decltype(auto) call(const Arguments& all, const Attempt& attempt, std::index_sequence<I...>) {
      if constexpr (std::invocable<F&, std::tuple_element_t<I, Arguments>..., const Attempt&>)
        return std::invoke(function_, std::get<I>(all)..., attempt);
      else
        return std::invoke(function_, std::get<I>(all)...);
    }

    FaultInjector* injector_;
    F function_;
    Error error_;
  };

  FaultInjector(FakeClock* clock, Seed seed, const FaultOptions& options)
      : clock_{clock},
        seed_{seed.value},
        options_{options} {
    if (options.failure_share + options.lost_result_share > 1.0)
      refuse_setting("failure_share + lost_result_share",
                     std::to_string(options.failure_share + options.lost_result_share),
                     "is invalid: an attempt fails only once, so their sum must be at most 1");
    if (options.delay_share > 0.0 && clock == nullptr)
      refuse_setting("delay_share", std::to_string(options.delay_share),
                     "is invalid: a delay needs a clock, as in FaultInjector{clock, seed, options}");
  }

  Fault::Kind inject(const Attempt& attempt) {
    const auto planned = fault(attempt.call_id(), attempt.ordinal);
    {
      const std::lock_guard lock{mutex_};
      ++injected_.attempts;
      injected_.failures += planned.kind == Fault::Kind::failure ? 1 : 0;
      injected_.lost_results += planned.kind == Fault::Kind::lost_result ? 1 : 0;
      injected_.delays += planned.delay > Duration::zero() ? 1 : 0;
    }
    if (planned.delay > Duration::zero()) clock_->advance(planned.delay);
    return planned.kind;
  }

  FakeClock* const clock_;
  const std::uint64_t seed_;
  const FaultOptions options_;
  mutable std::mutex mutex_;
  InjectedFaults injected_{};
};

}  // namespace ENCORE_BUILD::testing

// How often and until when: the limits of a call, of which the first to be reached holds.
#pragma once
#include <encore/backoff.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// At most this many retries after the first attempt: `MaxRetries{2}` allows three attempts, `MaxRetries{0}` one. (A1)
struct MaxRetries {
  using role = encore::role::CountLimit;
  Count<"max_retries"> value = 2;
};

/// At most this many attempts, the first one included; at least 1.
struct MaxAttempts {
  using role = encore::role::CountLimit;
  Count<"max_attempts", 1> value = 3;
};

/// No limit on the count: only time, a stop request, a guard or a failure that does not match ends the call.
struct UnlimitedRetries {
  using role = encore::role::CountLimit;
};

/// What a policy keeps of the three above, so that its type does not depend on which was given. Unlimited in fact means
/// 2'147'483'647 attempts.
class CountLimit {
 public:
  using role = encore::role::CountLimit;
  constexpr CountLimit() = default;
  constexpr CountLimit(MaxRetries limit) noexcept
      : CountLimit{limit.value < unlimited ? int{limit.value} : unlimited} {}
  constexpr CountLimit(MaxAttempts limit) noexcept : CountLimit{limit.value - 1} {}
  constexpr CountLimit(UnlimitedRetries) noexcept : CountLimit{unlimited} {}

  /// The retries after the first attempt. If no count was named: 2, or unlimited where time is limited. (A1)
  constexpr int max_retries(bool time_is_limited) const noexcept {
    if (max_retries_ != not_named) return max_retries_;
    return time_is_limited ? unlimited : int{MaxRetries{}.value};
  }
  static constexpr bool is_unlimited(int max_retries) noexcept { return max_retries == unlimited; }

  friend constexpr bool operator==(const CountLimit&, const CountLimit&) noexcept = default;

 private:
  static constexpr int unlimited = (std::numeric_limits<int>::max)() - 1;
  static constexpr int not_named = -1;
  constexpr explicit CountLimit(int retries) noexcept : max_retries_{retries} {}
  int max_retries_ = not_named;
};

/// The whole call's time, from its begin: no attempt begins at or after its end, and no wait crosses it. (D2, D3)
struct TimeBudget {
  using role = encore::role::TimeBudget;
  Span<"time_budget"> value;
};
struct NoTimeBudget {
  using role = encore::role::TimeBudget;
  static constexpr auto value = std::nullopt;
};

/// The least time with which an attempt is still of use: a retry that would be left less is not made. (D4)
struct MinAttemptTime {
  using role = encore::role::MinAttemptTime;
  Span<"min_attempt_time"> value = Duration::zero();
};

struct NoMinAttemptTime {
  using role = encore::role::MinAttemptTime;
  static constexpr auto value = Duration::zero();
};

/// How long one attempt may take, from its begin, which is then read from the clock. The callable is told what is left, by
/// `attempt.timeout_or<Unit>(longest)`; nothing is interrupted. (D6)
struct AttemptTimeout {
  using role = encore::role::AttemptTimeout;
  Span<"attempt_timeout"> value;
};
struct NoAttemptTimeout {
  using role = encore::role::AttemptTimeout;
  static constexpr auto value = std::nullopt;
};

/// The longest server hint that is obeyed; a longer one stops the call. At most `max_wait`. (C7, E2)
struct HintCap {
  using role = encore::role::HintCap;
  WaitSpan<"hint_cap"> value = whole_seconds(120);
};

/// The default beside `BeforeRetry`.
struct NothingBeforeRetry {
  using role = encore::role::BeforeRetry;
};

/// A call that a guard of the policy refuses, as a spent retry budget or an open breaker does, ends after the wait that it would
/// have had, and on entry after the first of the schedule: so no loop that calls again and again becomes a hot one. Permits
/// come back before that wait; it is not longer than the time that is left, a stop request ends it, it counts as slept, and the
/// guard's reason stays. Who drives a call by hand finds it in the last decision, which has a `stop` and a `wait`. (H10)
struct WaitWhenRefused {
  using role = encore::role::WhenRefused;
};
struct EndsWhenRefused {
  using role = encore::role::WhenRefused;
};

/// The default beside `AlreadyRetries`: what is called makes no attempts of its own.
struct AttemptsOnce {
  using role = encore::role::InnerAttempts;
  static constexpr int attempts = 1;
};

/// Makes the draws a function of this seed and the call's id, so that a whole run repeats. (C8)
struct Seed {
  using role = encore::role::Seed;
  std::uint64_t value = 0;
};
struct NoSeed {
  using role = encore::role::Seed;
  static constexpr auto value = std::nullopt;
};

}  // namespace encore ENCORE_BUILD

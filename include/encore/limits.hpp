// The limits of a call: how many attempts, and until when. The first limit reached ends the call.
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

/// No limit on the number of retries: only time, a stop request, a guard or a failure that does not match ends the call.
struct UnlimitedRetries {
  using role = encore::role::CountLimit;
};

/// Stores one of the three limits above, so that a policy's type does not depend on which was given. Unlimited means
/// 2'147'483'647 attempts.
class CountLimit {
 public:
  using role = encore::role::CountLimit;
  constexpr CountLimit() = default;
  constexpr CountLimit(MaxRetries limit) noexcept
      : CountLimit{limit.value < unlimited ? int{limit.value} : unlimited} {}
  constexpr CountLimit(MaxAttempts limit) noexcept : CountLimit{limit.value - 1} {}
  constexpr CountLimit(UnlimitedRetries) noexcept : CountLimit{unlimited} {}

  /// The maximum number of retries. If none was given: 2, or unlimited if there is a time limit. (A1)
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

/// The time of the whole call, from its start: no attempt starts at or after its end, and no wait goes past it. (D2, D3)
struct TimeBudget {
  using role = encore::role::TimeBudget;
  Span<"time_budget"> value;
};
struct NoTimeBudget {
  using role = encore::role::TimeBudget;
  static constexpr auto value = std::nullopt;
};

/// The minimum time that an attempt needs: a retry that would have less time left is not made. (D4)
struct MinAttemptTime {
  using role = encore::role::MinAttemptTime;
  Span<"min_attempt_time"> value = Duration::zero();
};

struct NoMinAttemptTime {
  using role = encore::role::MinAttemptTime;
  static constexpr auto value = Duration::zero();
};

/// The maximum time of one attempt, from its start, for which the clock is read. The callable gets the remaining time by
/// `attempt.timeout_or<Unit>(longest)`; encore itself interrupts nothing. (D6)
struct AttemptTimeout {
  using role = encore::role::AttemptTimeout;
  Span<"attempt_timeout"> value;
};
struct NoAttemptTimeout {
  using role = encore::role::AttemptTimeout;
  static constexpr auto value = std::nullopt;
};

/// The maximum server hint that is honoured; a longer one ends the call. At most `max_wait`. (C7, E2)
struct HintCap {
  using role = encore::role::HintCap;
  WaitSpan<"hint_cap"> value = whole_seconds(120);
};

/// The default in place of `BeforeRetry`.
struct NothingBeforeRetry {
  using role = encore::role::BeforeRetry;
};

/// A call that a guard refuses, as a spent retry budget or an open circuit breaker does, ends only after the wait that it would
/// have had (before a first attempt: the first wait of the schedule), so that a loop around the call does not spin. Permits are
/// returned before that wait. The wait is at most the time left, ends at a stop request and counts as slept; the guard's stop
/// reason stays. A driver finds the wait in the last `Decision`, which then has both a `stop` and a `wait`. (H10)
struct WaitWhenRefused {
  using role = encore::role::WhenRefused;
};
struct EndsWhenRefused {
  using role = encore::role::WhenRefused;
};

/// The default in place of `AlreadyRetries`: the callable does not retry by itself.
struct AttemptsOnce {
  using role = encore::role::InnerAttempts;
  static constexpr int attempts = 1;
};

/// Makes the random draws depend only on this seed and the call's id, so that a run can be reproduced. (C8)
struct Seed {
  using role = encore::role::Seed;
  std::uint64_t value = 0;
};
struct NoSeed {
  using role = encore::role::Seed;
  static constexpr auto value = std::nullopt;
};

}  // namespace encore ENCORE_BUILD

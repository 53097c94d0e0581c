// The state machine of a circuit breaker, without locks: closed, open, half open with one probe at a time.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/setting.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD {

/// What a breaker admits: every attempt, none, or one at a time. (H3)
enum class CircuitState : std::uint8_t { closed, open, half_open };

constexpr std::string_view to_string(CircuitState state) noexcept {
  switch (state) {
    case CircuitState::closed: return "closed";
    case CircuitState::open: return "open";
    default: return "half_open";
  }
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, CircuitState state) {
  return out << to_string(state);
}

struct CircuitBreakerOptions {
  /// The number of failures in a row that opens it. 5: more than the three attempts that one call makes by default (A1), so that
  /// one unlucky call does not block all others.
  Count<"failures_to_open", 1> failures_to_open = 5;
  /// How long no attempt is admitted. 30 s: about what a restart or a failover takes.
  Span<"open_for"> open_for = std::chrono::seconds{30};
  /// A probe that has not returned after this long is given up, and another attempt may probe. Longer than 0; `open_for` if not
  /// set.
  std::optional<Span<"probe_lease">> probe_lease{};
  /// Whether failures that are not retryable (not found, not allowed) count. If they do not, such a failure that was returned is
  /// an answer, and ends a row of failures, or a probe, like a success; an exception, which may come from anywhere, changes
  /// nothing.
  bool count_permanent_failures = false;
};

namespace detail {

/// The state of a circuit breaker, computed from its admissions, their results and the time. (H3)
/// Not thread-safe: `CircuitBreaker` locks it, and asks it only when it is not healthy.
class Circuit {
 public:
  /// The permission to make an attempt. It belongs to one generation of the circuit: each change of state begins a new one, and
  /// results from an earlier one are ignored.
  struct Ticket {
    std::uint64_t generation = 0;
    bool probe = false;
  };

  constexpr explicit Circuit(const CircuitBreakerOptions& options)
      : failures_to_open_{options.failures_to_open},
        open_for_{options.open_for},
        probe_lease_{options.probe_lease ? Duration{*options.probe_lease} : open_for_},
        counts_permanent_failures_{options.count_permanent_failures} {
    if (probe_lease_ == Duration::zero())
      refuse_setting("probe_lease", "0s",
                     "is invalid: it must be longer than 0 (if it is not set, it is open_for)");
  }

  constexpr bool closed() const noexcept { return closed_; }
  constexpr int failures_in_a_row() const noexcept { return failures_; }
  constexpr std::uint64_t generation() const noexcept { return generation_; }
  constexpr bool counts(bool retryable) const noexcept { return retryable || counts_permanent_failures_; }
  constexpr CircuitState state(TimePoint now) const noexcept {
    if (closed_) return CircuitState::closed;
    return now < open_until_ ? CircuitState::open : CircuitState::half_open;
  }

  /// Admits an attempt that begins after a wait of `ahead`, if it may. In a half-open circuit that attempt is the probe. (H2)
  constexpr std::optional<Ticket> admit(TimePoint now, Duration ahead) noexcept {
    if (closed_) return Ticket{generation_, false};
    adjust_for_clock_set_back(now);
    const auto begins = later(now, ahead);
    // A waiting probe gives way to an attempt that begins sooner, or after its lease; a running one to no other until its lease
    // ends.
    const auto probe_time = waits_until_ == (TimePoint::min)() ? now : begins;
    const bool taken = probe_time < lease_ends_ && !(begins < waits_until_);
    if (begins < open_until_ || taken) return std::nullopt;
    if (now >= open_until_) open_until_ = (TimePoint::min)();  // it has ended, whatever the clock does next
    enter_generation(false);
    begin_lease(begins);
    if (ahead > Duration::zero()) waits_until_ = begins;
    return Ticket{generation_, true};
  }
  /// How long it stays open from now; nothing if it has no end, or if it is not open. (H3)
  constexpr std::optional<Duration> open_for(TimePoint now) const noexcept {
    if (state(now) != CircuitState::open || open_until_ == (TimePoint::max)()) return std::nullopt;
    return time_between(now, open_until_);
  }
  /// After the wait: the ticket to go on with, if the attempt may still begin. (H2)
  constexpr std::optional<Ticket> admit_again(Ticket ticket, TimePoint now) noexcept {
    if (!ticket.probe || ticket.generation != generation_) return admit(now, Duration::zero());
    begin_lease(now);
    return ticket;
  }
  /// The attempt begins: the lease of a probe starts now.
  constexpr void began(Ticket ticket, TimePoint now) noexcept {
    if (ticket.probe && ticket.generation == generation_) begin_lease(now);
  }
  constexpr void succeeded(Ticket ticket) noexcept {
    if (ticket.generation != generation_) return;
    if (!closed_) return enter_generation(true);
    failures_ = 0;
  }
  constexpr void failed(Ticket ticket, TimePoint now) noexcept {
    if (ticket.generation != generation_) return;
    if (closed_ && ++failures_ < failures_to_open_) return;
    open_until_ = later(now, open_for_);
    enter_generation(false);
  }
  /// The attempt was not made, or its result means nothing: the next one may probe at once.
  constexpr void withdrawn(Ticket ticket) noexcept {
    if (ticket.probe && ticket.generation == generation_) clear_probe();
  }
  constexpr void force_open() noexcept {
    open_until_ = (TimePoint::max)();
    enter_generation(false);
  }
  constexpr void reset() noexcept { enter_generation(true); }

 private:
  constexpr void enter_generation(bool closed) noexcept {
    closed_ = closed;
    ++generation_;
    failures_ = 0;
    clear_probe();
  }
  constexpr void begin_lease(TimePoint begin) noexcept {
    lease_ends_ = later(begin, probe_lease_);
    waits_until_ = (TimePoint::min)();
  }
  constexpr void clear_probe() noexcept { lease_ends_ = waits_until_ = (TimePoint::min)(); }
  // A clock that was set back makes no period longer than its setting. (D7)
  constexpr void adjust_for_clock_set_back(TimePoint now) noexcept {
    if (open_until_ != (TimePoint::max)())
      open_until_ = shared::smaller_of(open_until_, later(now, open_for_));
    if (waits_until_ == (TimePoint::min)())
      lease_ends_ = shared::smaller_of(lease_ends_, later(now, probe_lease_));
  }

  int failures_to_open_;
  Duration open_for_;
  Duration probe_lease_;
  bool counts_permanent_failures_;

  bool closed_ = true;
  int failures_ = 0;
  std::uint64_t generation_ = 0;
  TimePoint open_until_ = (TimePoint::min)();
  TimePoint lease_ends_ = (TimePoint::min)();
  TimePoint waits_until_ = (TimePoint::min)();  // until then a probe gives way to one that begins sooner
};

}  // namespace detail

}  // namespace encore ENCORE_BUILD

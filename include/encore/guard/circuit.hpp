// The rules of a circuit breaker, without threads: closed, open, half open, and one probe at a time.
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

/// What a breaker lets through: everything, nothing, or one attempt at a time. (H3)
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
  /// So many failures in a row open it. 5: more than the three attempts that one call makes by default (A1), so that one
  /// unlucky call does not bar the way for all others.
  Count<"failures_to_open", 1> failures_to_open = 5;
  /// How long nobody knocks. 30 s: about what a restart or a failover takes.
  Span<"open_for"> open_for = std::chrono::seconds{30};
  /// A probe that has not returned after this long is given up, and another may try. As long as `open_for`, if not named.
  std::optional<Span<"probe_lease">> probe_lease{};
  /// Failures that are not worth a retry (not found, not allowed) count only if told so. Else one that was returned is an answer,
  /// and ends a row of failures, or a probe, as a success does; an exception, which may come from anywhere, shows nothing.
  bool count_permanent_failures = false;
};

/// A circuit breaker as a value: told of every admission and every result, and the time, it knows its state. (H3)
/// Not thread-safe: `CircuitBreaker` is, and asks this one when it is not healthy.
class Circuit {
 public:
  /// The leave to make an attempt. It was given in one generation of the circuit: each change of state begins a new one, and
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
      refuse_setting("probe_lease", "0s", "is invalid: it must be longer (unless named, it is open_for)");
  }

  constexpr bool closed() const noexcept { return closed_; }
  constexpr int failures_in_a_row() const noexcept { return failures_; }
  constexpr std::uint64_t generation() const noexcept { return generation_; }
  constexpr bool counts(bool retryable) const noexcept { return retryable || counts_permanent_failures_; }
  constexpr CircuitState state(TimePoint now) const noexcept {
    if (closed_) return CircuitState::closed;
    return now < open_until_ ? CircuitState::open : CircuitState::half_open;
  }

  /// May an attempt begin after a wait of `ahead`? When it is half open, it will be the probe. (H2)
  constexpr std::optional<Ticket> admit(TimePoint now, Duration ahead) noexcept {
    if (closed_) return Ticket{generation_, false};
    heed_a_clock_set_back(now);
    const auto begins = later(now, ahead);
    // A probe that waits is passed by who begins sooner, or after its lease; one that runs, by nobody as long as it may.
    const auto asked_about = waits_until_ == (TimePoint::min)() ? now : begins;
    const bool taken = asked_about < lease_ends_ && !(begins < waits_until_);
    if (begins < open_until_ || taken) return std::nullopt;
    if (now >= open_until_) open_until_ = (TimePoint::min)();  // over, whatever the clock does next
    enter_generation(false);
    begin_lease(begins);
    if (ahead > Duration::zero()) waits_until_ = begins;
    return Ticket{generation_, true};
  }
  /// How long it stays open, from now; empty if that has no time, or if it is not open. (H3)
  constexpr std::optional<Duration> open_for(TimePoint now) const noexcept {
    if (state(now) != CircuitState::open || open_until_ == (TimePoint::max)()) return std::nullopt;
    return time_between(now, open_until_);
  }
  /// The wait is over: the ticket as it is now, if the attempt may still begin. (H2)
  constexpr std::optional<Ticket> admit_again(Ticket ticket, TimePoint now) noexcept {
    if (!ticket.probe || ticket.generation != generation_) return admit(now, Duration::zero());
    begin_lease(now);
    return ticket;
  }
  /// The attempt begins: a probe's lease runs from here.
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
  /// The attempt was not made, or its result says nothing: the next one may probe at once.
  constexpr void withdrawn(Ticket ticket) noexcept {
    if (ticket.probe && ticket.generation == generation_) nobody_probes();
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
    nobody_probes();
  }
  constexpr void begin_lease(TimePoint begin) noexcept {
    lease_ends_ = later(begin, probe_lease_);
    waits_until_ = (TimePoint::min)();
  }
  constexpr void nobody_probes() noexcept { lease_ends_ = waits_until_ = (TimePoint::min)(); }
  // Nothing takes longer than it was meant to because the clock was set back. (D7)
  constexpr void heed_a_clock_set_back(TimePoint now) noexcept {
    if (open_until_ != (TimePoint::max)()) open_until_ = smaller_of(open_until_, later(now, open_for_));
    if (waits_until_ == (TimePoint::min)()) lease_ends_ = smaller_of(lease_ends_, later(now, probe_lease_));
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
  TimePoint waits_until_ =
      (TimePoint::min)();  // a probe that still waits gives way to one that begins sooner
};

}  // namespace encore ENCORE_BUILD

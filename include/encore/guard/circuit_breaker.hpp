// A circuit breaker: after some failures in a row nobody knocks for a while, then one attempt at a time tries again.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/guard/circuit.hpp>
#include <encore/guard/guard.hpp>
#include <encore/ingredient.hpp>
#include <encore/stop_reason.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace encore ENCORE_BUILD {

/// Refuses attempts for `open_for` after `failures_to_open` failures in a row, then admits one probe at a time: its success
/// closes the breaker, its failure opens it anew. (H3) In a policy it judges attempts; `PerCall{breaker}` judges calls.
///   CircuitBreaker breaker{{.failures_to_open = 3, .open_for = 30s}};
///   RetryPolicy policy{RetryOn<TimeoutError>{}, breaker};
/// Thread-safe; shared by naming it in several policies. While it is healthy, an attempt costs one load before and one
/// after, no write to shared memory and no clock read. (P10)
class CircuitBreaker {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::circuit_open;

  /// The leave to make one attempt. A probe that is destroyed without a result lets the next one probe at once.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : breaker_{std::exchange(other.breaker_, nullptr)},
          ticket_{other.ticket_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (ticket_.probe && breaker_ != nullptr)
        breaker_->change([&](Circuit& circuit) { circuit.withdrawn(ticket_); });
    }

    /// The attempt begins: a probe's lease runs from here.
    void began(const Now& now) {
      if (!ticket_.probe || breaker_ == nullptr) return;
      breaker_->change([&, time = now()](Circuit& circuit) { circuit.began(ticket_, time); });
    }
    /// After the wait: false if the breaker has opened meanwhile. (H2)
    bool still_admitted(const Now& now) {
      if (breaker_ == nullptr) return false;
      if (!ticket_.probe && (breaker_->load() & ~has_failures) == word_of(ticket_.generation)) return true;
      return breaker_->change([&, time = now()](Circuit& circuit) {
        const auto ticket = circuit.admit_again(ticket_, time);
        if (ticket) ticket_ = *ticket;
        return ticket.has_value();
      });
    }
    void succeeded(const Now&) {
      auto* const breaker = std::exchange(breaker_, nullptr);
      if (breaker != nullptr && breaker->load() != word_of(ticket_.generation))
        breaker->change([&](Circuit& circuit) { circuit.succeeded(ticket_); });
    }
    void failed(const Now& now, bool retryable) {
      if (breaker_ == nullptr) return;
      const auto time = now();  // if it throws, the permit still comes back
      std::exchange(breaker_, nullptr)->change([&](Circuit& circuit) {
        circuit.counts(retryable) ? circuit.failed(ticket_, time) : circuit.withdrawn(ticket_);
      });
    }
    /// It returned a failure that is not retried: who answers is there, unless such failures count. (H3)
    void answered(const Now& now) {
      if (breaker_ == nullptr) return;
      breaker_->circuit_.counts(false) ? failed(now, false) : succeeded(now);
    }

   private:
    friend class CircuitBreaker;
    Permit(CircuitBreaker& breaker, Circuit::Ticket ticket) noexcept : breaker_{&breaker}, ticket_{ticket} {}
    CircuitBreaker* breaker_;
    Circuit::Ticket ticket_;
  };

  CircuitBreaker() : CircuitBreaker{CircuitBreakerOptions{}} {}
  explicit CircuitBreaker(const CircuitBreakerOptions& options) : circuit_{options} {}
  CircuitBreaker(const CircuitBreaker&) = delete;
  CircuitBreaker& operator=(const CircuitBreaker&) = delete;

  ENCORE_FORCE_INLINE std::optional<Permit> admit(const AdmissionRequest& request) {
    const auto word = load();
    if ((word & not_closed) == 0) return Permit{*this, {word / word_of(1), false}};
    return admit_slowly(request.now(), request.ahead);
  }

  CircuitState state(const Now& now) const {
    const auto time = now();
    const std::lock_guard lock{mutex_};
    return circuit_.state(time);
  }
  /// How long it admits no attempt, from now: as long as it is open. (H3)
  std::optional<Duration> admits_again(const AdmissionRequest& request) const {
    const auto time = request.now();
    const std::lock_guard lock{mutex_};
    return circuit_.open_for(time);
  }
  /// Opens it until `reset`: for an operator. What comes of the attempts under way is ignored.
  void force_open() {
    change([](Circuit& circuit) { circuit.force_open(); });
  }
  /// Closes it and forgets the failures. What comes of the attempts under way is ignored.
  void reset() {
    change([](Circuit& circuit) { circuit.reset(); });
  }

 private:
  // One word says all that a healthy attempt has to know: the circuit's generation, and in the lowest bits whether there is
  // more to know under the lock. A ticket's word is that of its generation when healthy.
  static constexpr std::uint64_t not_closed = 1;
  static constexpr std::uint64_t has_failures = 2;
  static constexpr std::uint64_t word_of(std::uint64_t generation) noexcept { return generation * 4; }
  std::uint64_t load() const noexcept { return word_.load(std::memory_order_acquire); }

  ENCORE_COLD std::optional<Permit> admit_slowly(TimePoint now, Duration ahead) {
    return change([&](Circuit& circuit) -> std::optional<Permit> {
      const auto ticket = circuit.admit(now, ahead);
      if (!ticket) return std::nullopt;
      return Permit{*this, *ticket};
    });
  }
  template <class Change>
  ENCORE_COLD auto change(const Change& apply) -> decltype(apply(std::declval<Circuit&>())) {
    struct Publish {
      CircuitBreaker& breaker;
      ~Publish() {
        const auto& circuit = breaker.circuit_;
        const auto word = word_of(circuit.generation()) | (circuit.closed() ? 0 : not_closed) |
                          (circuit.failures_in_a_row() != 0 ? has_failures : 0);
        if (word != breaker.load()) breaker.word_.store(word, std::memory_order_release);
      }
    };
    const std::lock_guard lock{mutex_};
    const Publish publish{*this};
    return apply(circuit_);
  }

  std::atomic<std::uint64_t> word_{0};
  mutable std::mutex mutex_;
  Circuit circuit_;
};
static_assert(Guard<CircuitBreaker>);

}  // namespace encore ENCORE_BUILD

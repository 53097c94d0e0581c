// A circuit breaker: after some failures in a row it admits no attempt for a while, then one at a time.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/guard/circuit.hpp>
#include <encore/guard/guard.hpp>
#include <encore/option.hpp>
#include <encore/stop_reason.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace encore ENCORE_BUILD {

/// Refuses attempts for `open_for` after `failures_to_open` failures in a row, then admits one probe at a time: its success
/// closes the breaker, its failure opens it again. (H3) In a policy it judges attempts; `PerCall{breaker}` judges calls.
///   CircuitBreaker breaker{{.failures_to_open = 3, .open_for = 30s}};
///   RetryPolicy policy{RetryOn<TimeoutError>{}, breaker};
/// Thread-safe; to share it, name it in several policies. While it is healthy, an attempt costs one load before and one after, no
/// write to shared memory and no clock read. (P10)
class CircuitBreaker {
 public:
  using role = encore::role::Guard;
  static constexpr StopReason refusal = StopReason::circuit_open;

  /// The permission to make one attempt. If a probe's permit is destroyed without a result, the next attempt may probe at once.
  class Permit {
   public:
    Permit(Permit&& other) noexcept
        : breaker_{std::exchange(other.breaker_, nullptr)},
          ticket_{other.ticket_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (ticket_.probe && breaker_ != nullptr)
        breaker_->change([&](detail::Circuit& circuit) { circuit.withdrawn(ticket_); });
    }

    /// The attempt begins: the lease of a probe starts now.
    void began(const Now& now) {
      if (!ticket_.probe || breaker_ == nullptr) return;
      breaker_->change([&, time = now()](detail::Circuit& circuit) { circuit.began(ticket_, time); });
    }
    /// After the wait: false if the breaker has opened in the meantime. (H2)
    bool still_admitted(const Now& now) {
      if (breaker_ == nullptr) return false;
      if (!ticket_.probe && (breaker_->load() & ~has_failures) == word_of(ticket_.generation)) return true;
      return breaker_->change([&, time = now()](detail::Circuit& circuit) {
        const auto ticket = circuit.admit_again(ticket_, time);
        if (ticket) ticket_ = *ticket;
        return ticket.has_value();
      });
    }
    void succeeded(const Now&) {
      auto* const breaker = std::exchange(breaker_, nullptr);
      if (breaker != nullptr && breaker->load() != word_of(ticket_.generation))
        breaker->change([&](detail::Circuit& circuit) { circuit.succeeded(ticket_); });
    }
    void failed(const Now& now, bool retryable) {
      if (breaker_ == nullptr) return;
      const auto time = now();  // first: if it throws, the permit is still returned
      std::exchange(breaker_, nullptr)->change([&](detail::Circuit& circuit) {
        circuit.counts(retryable) ? circuit.failed(ticket_, time) : circuit.withdrawn(ticket_);
      });
    }
    /// The attempt returned a failure that is not retried: the service has answered, which is a success unless such failures
    /// count. (H3)
    void answered(const Now& now) {
      if (breaker_ == nullptr) return;
      breaker_->circuit_.counts(false) ? failed(now, false) : succeeded(now);
    }

   private:
    friend class CircuitBreaker;
    Permit(CircuitBreaker& breaker, detail::Circuit::Ticket ticket) noexcept
        : breaker_{&breaker},
          ticket_{ticket} {}
    CircuitBreaker* breaker_;
    detail::Circuit::Ticket ticket_;
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
  /// How long it admits no attempt, from now; nothing if it is not open, or open without an end. (H3)
  std::optional<Duration> admits_again(const AdmissionRequest& request) const {
    const auto time = request.now();
    const std::lock_guard lock{mutex_};
    return circuit_.open_for(time);
  }
  /// Opens it until `reset`, for an operator. Results of the attempts under way are ignored.
  void force_open() {
    change([](detail::Circuit& circuit) { circuit.force_open(); });
  }
  /// Closes it and forgets the failures. Results of the attempts under way are ignored.
  void reset() {
    change([](detail::Circuit& circuit) { circuit.reset(); });
  }

 private:
  // One word has all that a healthy attempt needs: the circuit's generation and, in the lowest bits, whether it has to look under
  // the lock. A ticket's word is that of its generation when healthy.
  static constexpr std::uint64_t not_closed = 1;
  static constexpr std::uint64_t has_failures = 2;
  static constexpr std::uint64_t word_of(std::uint64_t generation) noexcept { return generation * 4; }
  std::uint64_t load() const noexcept { return word_.load(std::memory_order_acquire); }

  ENCORE_COLD std::optional<Permit> admit_slowly(TimePoint now, Duration ahead) {
    return change([&](detail::Circuit& circuit) -> std::optional<Permit> {
      const auto ticket = circuit.admit(now, ahead);
      if (!ticket) return std::nullopt;
      return Permit{*this, *ticket};
    });
  }
  template <class Change>
  ENCORE_COLD auto change(const Change& apply) -> decltype(apply(std::declval<detail::Circuit&>())) {
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
  detail::Circuit circuit_;
};
static_assert(Guard<CircuitBreaker>);

}  // namespace encore ENCORE_BUILD

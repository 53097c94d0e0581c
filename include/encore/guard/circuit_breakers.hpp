// One circuit breaker for each call name, created when the name is first used.
#pragma once
#include <encore/detail/name_table.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/guard.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD {

struct CircuitBreakersOptions {
  CircuitBreakerOptions each{};
  /// Names beyond these share one breaker, which bounds memory and still stops a storm; they open together. 256: more tools than
  /// an agent has; about 64 kB.
  Count<"max_names", 1> max_names = 256;
};

/// A circuit breaker for each call name: one tool's outage does not block the others. (H3)
///   CircuitBreakers breakers{{.each = {.failures_to_open = 3}}};
///   breakers["ship"].force_open();
/// Thread-safe. Looking up a known name takes no lock and writes nothing; a lock is taken when a name is first used. Breakers are
/// never removed, so references to them stay valid. Names are call names, never call ids.
class CircuitBreakers {
 public:
  using role = encore::role::Guard;
  using Permit = CircuitBreaker::Permit;
  static constexpr StopReason refusal = CircuitBreaker::refusal;

  CircuitBreakers() : CircuitBreakers{CircuitBreakersOptions{}} {}
  explicit CircuitBreakers(const CircuitBreakersOptions& options)
      : breakers_{options.max_names, options.each} {}

  std::optional<Permit> admit(const AdmissionRequest& request) {
    return (*this)[request.call_name].admit(request);
  }

  std::optional<Duration> admits_again(const AdmissionRequest& request) const {
    return breakers_.at(request.call_name).admits_again(request);
  }

  /// The breaker of a name, created if there is none yet.
  CircuitBreaker& operator[](std::string_view name) { return breakers_[name]; }

  /// The state of a name's breaker; `closed` for a name that was never used.
  CircuitState state(std::string_view name, const Now& now) const { return breakers_.at(name).state(now); }

  /// Calls `use(std::string_view name, CircuitBreaker&)` for every name that has its own breaker, in no particular order.
  template <class Use>
  void for_each(Use&& use) {
    breakers_.for_each(use);
  }

 private:
  detail::NameTable<CircuitBreaker, CircuitBreakerOptions> breakers_;
};
static_assert(Guard<CircuitBreakers>);

}  // namespace encore ENCORE_BUILD

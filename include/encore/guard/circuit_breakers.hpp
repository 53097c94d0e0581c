// One circuit breaker for each call name, made when the name is first seen.
#pragma once
#include <encore/detail/name_table.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/guard.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD {

struct CircuitBreakersOptions {
  CircuitBreakerOptions each{};
  /// Names beyond these share one breaker, so that neither memory nor a storm grows without a bound; they open together.
  /// 256: more tools than an agent has, about 64 kB.
  Count<"most_names", 1> most_names = 256;
};

/// A circuit breaker for each call name: one tool's outage does not bar the way for the others. (H3)
///   CircuitBreakers breakers{{.each = {.failures_to_open = 3}}};
///   breakers["ship"].force_open();
/// Thread-safe. A name is looked up without a lock or a write; a lock is taken when it is first seen. Breakers are never
/// removed, so references to them stay valid. Names are call names, never call ids.
class CircuitBreakers {
 public:
  using role = encore::role::Guard;
  using Permit = CircuitBreaker::Permit;
  static constexpr StopReason refusal = CircuitBreaker::refusal;

  CircuitBreakers() : CircuitBreakers{CircuitBreakersOptions{}} {}
  explicit CircuitBreakers(const CircuitBreakersOptions& options)
      : breakers_{options.most_names, options.each} {}

  std::optional<Permit> admit(const AdmissionRequest& request) {
    return (*this)[request.call_name].admit(request);
  }

  std::optional<Duration> admits_again(const AdmissionRequest& request) const {
    return breakers_.at(request.call_name).admits_again(request);
  }

  /// The breaker of a name, made if there is none yet.
  CircuitBreaker& operator[](std::string_view name) { return breakers_[name]; }

  /// `closed` for a name that was never seen.
  CircuitState state(std::string_view name, const Now& now) const { return breakers_.at(name).state(now); }

  /// Calls `use(std::string_view name, CircuitBreaker&)` for every name that has a breaker of its own, in no order.
  template <class Use>
  void for_each(Use&& use) {
    breakers_.for_each(use);
  }

 private:
  detail::NameTable<CircuitBreaker, CircuitBreakerOptions> breakers_;
};
static_assert(Guard<CircuitBreakers>);

}  // namespace encore ENCORE_BUILD

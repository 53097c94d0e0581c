// EXPECT: a temporary one would dangle: give it a name
#include "../empty_permit.hpp"
#include <encore/guard/guard.hpp>
#include <encore/retry_policy.hpp>

#include <functional>

class Limiter {
 public:
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  std::optional<Permit> admit(const encore::AdmissionRequest&) noexcept {
    return admitted_++ < 3 ? std::optional<Permit>{Permit{}} : std::nullopt;
  }

 private:
  int admitted_ = 0;
};

int test() {
#ifdef ENCORE_FIXED
  Limiter limiter;
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, std::ref(limiter)};
#else
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Limiter{}};
#endif
  return policy.run([] { return 17; });
}

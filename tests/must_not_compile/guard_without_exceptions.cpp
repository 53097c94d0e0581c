// EXPECT: without exceptions a refusal cannot be thrown
// EXPECT: add ReturnOutcome{} or FormatFailure{...}
// FLAGS: -fno-exceptions -fno-rtti
#include "../empty_permit.hpp"
#include <encore/guard/guard.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

struct Open {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  std::optional<Permit> admit(const encore::AdmissionRequest&) const noexcept { return Permit{}; }
};

int test() {
  const encore::RetryPolicy policy{encore::RetryIfResult{[](int status) { return status == 503; }}, Open{}};
#ifdef ENCORE_FIXED
  return *policy.with(encore::ReturnOutcome{}).run([] { return 200; });
#else
  return policy.run([] { return 200; });
#endif
}

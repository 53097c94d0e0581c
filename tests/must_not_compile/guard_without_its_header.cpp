// EXPECT: a policy with a guard needs: #include <encore/guard/guard.hpp>
#include "../empty_permit.hpp"
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/guard/guard.hpp>
#endif

#include <optional>

struct Open {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  using Permit = encore_tests::EmptyPermit;
  std::optional<Permit> admit(const auto&) const noexcept { return Permit{}; }
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Open{}};

// EXPECT: a policy with a guard needs: #include <encore/guard/guard.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/guard/guard.hpp>
#endif

#include <optional>

struct Open {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  struct Permit {
    Permit() = default;
    Permit(Permit&&) = default;
    void succeeded(const encore::Now&) noexcept {}
    void failed(const encore::Now&, bool) noexcept {}
  };
  std::optional<Permit> admit(const auto&) const noexcept { return Permit{}; }
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Open{}};

// EXPECT: this guard does not satisfy encore::Guard: it needs a move-only `Permit`
#include <encore/guard/guard.hpp>
#include <encore/retry_policy.hpp>

struct Open {
  using role = encore::role::Guard;
  static constexpr auto refusal = encore::StopReason::refused_by_guard;
  struct Permit {
#ifdef ENCORE_FIXED
    Permit() = default;
    Permit(Permit&&) = default;
#endif
    void succeeded(const encore::Now&) noexcept {}
    void failed(const encore::Now&, bool) noexcept {}
  };
  std::optional<Permit> admit(const encore::AdmissionRequest&) const noexcept { return Permit{}; }
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Open{}};

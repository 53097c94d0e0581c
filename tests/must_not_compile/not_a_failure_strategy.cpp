// EXPECT: this failure strategy does not satisfy encore::FailureStrategy: it needs `mode`
#include <encore/failure.hpp>
#include <encore/retry_policy.hpp>

struct Zero {
  using role = encore::role::OnFailure;
#ifdef ENCORE_FIXED
  static constexpr auto mode = encore::TerminalMode::formatted;
#endif
  template <class R>
  using result = R;
  template <class R>
  R failed(encore::Failure&&) const {
    return R{};
  }
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Zero{}};

// EXPECT: a policy with a failure strategy needs: #include <encore/failure.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/failure.hpp>
#endif

struct Zero {
  using role = encore::role::OnFailure;
  static constexpr auto mode = encore::TerminalMode::formatted;
  template <class R>
  using result = R;
  template <class R>
  R failed(encore::Failure&&) const;
};

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, Zero{}};

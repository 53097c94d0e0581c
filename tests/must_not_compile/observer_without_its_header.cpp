// EXPECT: a policy with an observer needs: #include <encore/observer.hpp>
#include <encore/retry_policy.hpp>
#ifdef ENCORE_FIXED
#include <encore/observer.hpp>
#endif

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}, [](const encore::Event&) {}};

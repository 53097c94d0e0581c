// EXPECT FIRST: this policy's type has no place for one of these options
#include <encore/retry_policy.hpp>

using namespace std::chrono_literals;

class Client {
 public:
  int lookup() const {
    return policy_.run([] { return 17; });
  }

 private:
#ifdef ENCORE_FIXED
  encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException, encore::Options<encore::TimeBudget>>
      policy_{encore::RetryOnEveryException{}, encore::TimeBudget{3s}};
#else
  encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException> policy_{
      encore::RetryOnEveryException{}, encore::TimeBudget{3s}};
#endif
};
inline const Client client{};

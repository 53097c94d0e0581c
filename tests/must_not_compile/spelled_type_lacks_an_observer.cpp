// EXPECT FIRST: this policy's type has no place for one of these options
#include <encore/observer.hpp>
#include <encore/retry_policy.hpp>

struct Log {
  void operator()(const encore::Event&) const {}
};

class Client {
 public:
  explicit Client(Log log) : policy_{encore::RetryOnEveryException{}, log} {}
  int lookup() const {
    return policy_.run([] { return 17; });
  }

 private:
#ifdef ENCORE_FIXED
  encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException, encore::Options<Log>> policy_;
#else
  encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException> policy_;
#endif
};

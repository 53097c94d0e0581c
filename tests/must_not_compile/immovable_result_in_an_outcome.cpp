// EXPECT: this failure strategy needs a result that can be moved
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>

struct Session {
  explicit Session(int number) : id{number} {}
#ifndef ENCORE_FIXED
  Session(const Session&) = delete;
#endif
  int id;
};

int test() {
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::ReturnOutcome{}};
  return policy.run([] { return Session{17}; })->id;
}

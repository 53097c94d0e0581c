// EXPECT: a test on returned values needs a result that can be moved
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

struct Session {
  explicit Session(int number) : id{number} {}
#ifndef ENCORE_FIXED
  Session(const Session&) = delete;
#endif
  int id;
};

int test() {
  const encore::RetryPolicy policy{
      encore::RetryIfResult{[](const Session& session) { return session.id < 0; }}};
  return policy.run([] { return Session{17}; }).id;
}

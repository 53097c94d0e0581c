// EXPECT: this filter can never be asked about this callable
// EXPECT: NetError
// FLAGS: -fno-exceptions -fno-rtti
// A test on what is neither returned nor, without exceptions, thrown. (B9)
#include <encore/encore.hpp>

struct NetError {
  int code;
};
struct Answer {
  int error;
};

int test() {
#ifdef ENCORE_FIXED
  const encore::RetryIf busy{[](const Answer& answer) { return answer.error == 11; }};
#else
  const encore::RetryIf busy{[](NetError error) { return error.code == 11; }};
#endif
  const encore::RetryPolicy policy{busy, encore::ReturnOutcome{}};
  return policy.run([] { return Answer{11}; }).attempts();
}

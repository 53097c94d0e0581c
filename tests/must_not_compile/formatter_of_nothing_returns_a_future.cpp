// EXPECT: this formatter returns a coroutine or future
#include <encore/on_failure.hpp>
#include <encore/retry_policy.hpp>

#include <future>

#ifdef ENCORE_FIXED
void test() {
  encore::RetryPolicy{encore::RetryOnEveryException{}, encore::FormatFailure{[](const encore::Failure&) {
                        std::async(std::launch::deferred, [] { return 17; }).wait();
                      }}}
      .run([] {});
}
#else
void test() {
  encore::RetryPolicy{encore::RetryOnEveryException{}, encore::FormatFailure{[](const encore::Failure&) {
                        return std::async(std::launch::deferred, [] { return 17; });
                      }}}
      .run([] {});
}
#endif

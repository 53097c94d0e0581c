// EXPECT: this callable returns a coroutine or future
#include <encore/any_retry_policy.hpp>

#include <future>

#ifdef ENCORE_FIXED
void test(const encore::AnyRetryPolicy<void>& policy) {
  policy.run([] { std::async(std::launch::deferred, [] { return 17; }).get(); });
}
#else
void test(const encore::AnyRetryPolicy<void>& policy) {
  policy.run([] { return std::async(std::launch::deferred, [] { return 17; }); });
}
#endif

// EXPECT: this callable returns a coroutine or future
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/as_value.hpp>
#include <encore/retry_policy.hpp>

#include <future>

#ifdef ENCORE_FIXED
int test(const encore::ToolCall& call) {
  const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                encore::Repeatable{"lookup"}};
  return tools
      .handle(call, encore::as_value([](const encore::ToolCall&) {
                return std::async(std::launch::deferred, [] { return 17; });
              }))
      .get();
}
#else
int test(const encore::ToolCall& call) {
  const encore::ToolRetry tools{encore::RetryPolicy{encore::RetryOnEveryException{}},
                                encore::Repeatable{"lookup"}};
  return tools
      .handle(call,
              [](const encore::ToolCall&) { return std::async(std::launch::deferred, [] { return 17; }); })
      .get();
}
#endif

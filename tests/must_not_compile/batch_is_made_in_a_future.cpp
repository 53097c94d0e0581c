// EXPECT: this for_each returns a coroutine or future
#include <encore/agent/tool_run.hpp>

#include <future>

#ifdef ENCORE_FIXED
auto test(encore::ToolRun<>& run) {
  return run.handle_batch({encore::ToolCall{}}, {}, [](std::size_t count, const auto& make) {
    for (std::size_t i = 0; i < count; ++i) make(i);
  });
}
#else
auto test(encore::ToolRun<>& run) {
  return run.handle_batch({encore::ToolCall{}}, {}, [](std::size_t count, const auto& make) {
    return std::async([=, &make] {
      for (std::size_t i = 0; i < count; ++i) make(i);
    });
  });
}
#endif

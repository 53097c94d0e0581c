// EXPECT: a ToolRetry takes one ErrorResultIf
#include <encore/agent/tool_retry.hpp>

inline const encore::RetryPolicy policy{encore::RetryOnEveryException{}};
inline const encore::ErrorResultIf not_true{[](bool ok) { return !ok; }};
#ifdef ENCORE_FIXED
inline const encore::ToolRetry tools{policy, encore::Repeatable{"lookup"}, not_true};
#else
inline const encore::ErrorResultIf negative{[](int result) { return result < 0; }};
inline const encore::ToolRetry tools{policy, encore::Repeatable{"lookup"}, not_true, negative};
#endif

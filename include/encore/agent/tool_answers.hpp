// The answers to the tool calls of one model turn.
#pragma once
#include <encore/agent/tool_result.hpp>
#include <encore/detail/attributes.hpp>

#include <cstddef>
#include <exception>
#include <vector>

namespace encore ENCORE_BUILD {

/// One answer for each call, in order: a vector that goes to the model.
///   auto answers = run.handle_batch(calls);
///   conversation.append(answers);
///   answers.rethrow_escaped();  // an interrupt, a bug: only the host can handle these
class [[nodiscard]] ToolAnswers : public std::vector<ToolResult> {
 public:
  using vector::vector;

  /// An exception that no policy handles: one that the filter does not match, or that is never retried. (B3, B4)
  struct Escaped {
    std::size_t position = 0;  ///< of the call, from 0; its answer is the default text
    std::exception_ptr error{};
  };
  /// In the order of the calls.
  std::vector<Escaped> escaped{};

  /// Rethrows the first of them, the same object; does nothing if there is none.
  void rethrow_escaped() const {
#if defined(__cpp_exceptions)
    if (!escaped.empty()) std::rethrow_exception(escaped.front().error);
#endif
  }
};

}  // namespace encore ENCORE_BUILD

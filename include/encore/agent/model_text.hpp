// The text that a model gets about a failed tool call.
#pragma once
#include <encore/agent/tool_error.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/error_type.hpp>
#include <encore/failure.hpp>
#include <encore/stop_reason.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// What the text may say beyond the default. Exception texts leak hosts and keys, and models follow advice: both only on request.
/// (G5)
struct ModelText {
  bool exception_text = false;
  std::string_view advice{};  ///< a sentence that is appended unchanged
};

namespace detail {

/// The text of a stored `ToolError`; empty for null and for every other exception.
inline std::string words_for_model(const std::exception_ptr& error) {
  return told_of<ToolError>(error,
                            [](const ToolError* caught) { return caught != nullptr ? caught->what() : ""; });
}

/// Appends the tool's own words to a text.
inline void append_words(std::string& text, std::string_view words) {
  if (!words.empty()) text.append(" The tool says: ").append(words);
}

}  // namespace detail

/// The default text for a model: the tool, the attempts and the error's type, on one line; the earliest time for another call, if
/// the server or a guard named one; and the text of a `ToolError`. If the outcome is unknown it says so, and not that the call
/// failed: the tool may have done its work (I3); then it names no time. (G5)
///   The tool "inventory_lookup" failed after 3 attempts: TimeoutError.
///   The tool "inventory_lookup" failed after 1 attempt: RateLimited. The earliest time for another call is 300 s from now.
///   The tool "charge_card" was called 1 time, and it is unknown whether it had an effect: ReadTimeout.
///   The tool "charge_card" was called before, and it is unknown whether it had an effect.
///   The tool "inventory_lookup" was not called: call_limit_reached.
///   There is no tool "inventory".
inline std::string tell_model(const Failure& failure, const ModelText& how = {}) {
  const auto no_tool = failure.reason == StopReason::unknown_tool;
  const auto unknown = failure.outcome_unknown || failure.reason == StopReason::unknown_outcome;
  std::string text{no_tool ? "There is no tool" : "The tool"};
  if (no_tool || !failure.call_name.empty()) append_quoted(text += ' ', failure.call_name);
  const auto count = std::to_string(failure.attempts);
  const auto once = failure.attempts == 1;
  if (failure.refused_on_entry()) {
    if (unknown)
      text.append(" was called before, and it is unknown whether it had an effect");
    else if (!no_tool)
      text.append(" was not called: ").append(to_string(failure.reason));
  } else if (unknown) {
    text.append(" was called ")
        .append(count)
        .append(once ? " time" : " times")
        .append(", and it is unknown whether it had an effect");
  } else {
    text.append(" failed after ").append(count).append(once ? " attempt" : " attempts");
  }
  if (failure.error != nullptr) text.append(": ").append(error_type(failure.error));
  const auto words = detail::words_for_model(failure.error);
  if (how.exception_text && words.empty()) {
    if (const auto what = error_text(failure.error); !what.empty()) append_quoted(text += ": ", what);
  }
  text += '.';
  if (!unknown && failure.retry_after && *failure.retry_after > Duration::zero())
    text.append(" The earliest time for another call is ")
        .append(std::to_string(std::chrono::ceil<std::chrono::seconds>(*failure.retry_after).count()))
        .append(" s from now.");
  if (!how.advice.empty()) text.append(1, ' ').append(how.advice);
  detail::append_words(text, words);
  return text;
}

}  // namespace encore ENCORE_BUILD

// A failed tool call becomes an error result that the model reads.
#pragma once
#include <encore/agent/error_result.hpp>
#include <encore/agent/model_text.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/ingredient.hpp>
#include <encore/on_failure.hpp>

#include <concepts>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// Makes an error result of the failure's text, under the tool's name and the call's id. A call without an id is answered
/// under the one that its events carry.
inline ToolResult error_result_of(const Failure& failure, std::string text) {
  return {ToolStatus::error, std::move(text), failure.call_name, failure.call_id, failure.reason};
}

namespace detail {
/// The tool's result as what its callable returns.
template <class R>
R answer_with(ToolResult&& result) {
  static_assert(
      std::convertible_to<ToolResult, R>,
      "TellModel answers with an encore::ToolResult, and what this callable returns cannot be made of "
      "one: return ToolResult, or use FormatFailure{...}");
  if constexpr (std::convertible_to<ToolResult, R>)
    return std::move(result);
  else
    std::abort();
}
}  // namespace detail

/// Tells the model that the call failed: a `ToolResult` with the default text, which has no exception text and gives no advice;
/// both can be asked for. If the last failure is a returned error, what it says reaches the model as well: the words of a
/// `ToolResult` after the text; a result of another type that says that it is one (`is_error_result`) as it is, unless the outcome
/// is unknown. (G5)
///   ToolRetry tools{policy, Repeatable{"lookup"}, TellModel{}};
struct TellModel {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::error_result;
  template <class R>
  using result = R;
  ModelText text{};  ///< its `advice` is viewed, not copied: give a literal

  template <class R>
  R failed(Failure&& failure) const {
    return detail::answer_with<R>(error_result_of(failure, tell_model(failure, text)));
  }
  template <class R, class Last>
  R failed(Failure&& failure, Last&& last) const {
    using Value = std::remove_cvref_t<Last>;
    if constexpr (std::same_as<Value, ToolResult>) {
      if (last.is_error()) {
        auto told = tell_model(failure, text);
        detail::append_words(told, last.content);
        return detail::answer_with<R>(error_result_of(failure, std::move(told)));
      }
    } else if constexpr (SaysIfError<Value> && std::convertible_to<Last, R>) {
      if (is_error_result(last) && !failure.outcome_unknown) return std::forward<Last>(last);
    }
    return failed<R>(std::move(failure));
  }
};

/// The same with the text that a function makes of the failure, and of the last failed value if it takes it, as in `FormatFailure`.
/// (G3, G8)
///   TellModelWith{[](const Failure& failure) { return "UNAVAILABLE:" + error_type(failure.error); }}
template <class F>
struct TellModelWith {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::formatted;
  static constexpr bool reports_time = true;
  template <class R>
  using result = R;
  F text;
  constexpr explicit TellModelWith(F f) : text(std::move(f)) {}

  template <class R>
  R failed(Failure&& failure) const {
    return answer<R>(failure, [&]() -> decltype(auto) {
      return detail::formatted<std::remove_cvref_t<R>>(text, std::as_const(failure));
    });
  }
  template <class R, class Last>
  R failed(Failure&& failure, Last&& last) const {
    return answer<R>(failure, [&]() -> decltype(auto) { return detail::formatted(text, failure, last); });
  }

 private:
  template <class R, class Make>
  static R answer(const Failure& failure, Make&& make) {
    static_assert(std::convertible_to<decltype(make()), std::string>,
                  "TellModelWith takes a function of `const Failure&` that returns text");
    return detail::answer_with<R>(error_result_of(failure, make()));
  }
};

static_assert(FailureStrategy<TellModel>);

}  // namespace encore ENCORE_BUILD

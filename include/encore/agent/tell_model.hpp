// Failure strategies that return an error result for the model.
#pragma once
#include <encore/agent/error_result.hpp>
#include <encore/agent/model_text.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/on_failure.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

namespace detail {

/// An error result with this text, the tool's name and the call's id. A call without an id gets the one that its events have.
inline ToolResult error_result_of(const Failure& failure, std::string text) {
  return {ToolStatus::error, std::move(text), failure.call_name, failure.call_id, failure.reason};
}

/// The tool's result, converted to what its callable returns.
template <class R>
R answer_with(ToolResult&& result) {
  static_assert(std::convertible_to<ToolResult, R>,
                "TellModel returns an encore::ToolResult, which does not convert to what this callable "
                "returns: return ToolResult, or use FormatFailure{...}");
  if constexpr (std::convertible_to<ToolResult, R>)
    return std::move(result);
  else
    std::abort();
}
}  // namespace detail

/// Tells the model that the call failed: a `ToolResult` with the default text, which contains no exception text and no advice
/// unless asked for. If the last failure is a returned error, its text reaches the model as well: the content of a `ToolResult`
/// after the default text; a result of another type that is an error (`is_error_result`) is returned unchanged, unless the
/// outcome is unknown. (G5)
///   ToolRetry tools{policy, Repeatable{"lookup"}, TellModel{}};
struct TellModel {
  using role = encore::role::OnFailure;
  static constexpr auto mode = TerminalMode::error_result;
  template <class R>
  using result = R;
  ModelText text{};  ///< its `advice` is a view: give a literal

  template <class R>
  R failed(Failure&& failure) const {
    return detail::answer_with<R>(detail::error_result_of(failure, tell_model(failure, text)));
  }
  template <class R, class Last>
  R failed(Failure&& failure, Last&& last) const {
    using Value = std::remove_cvref_t<Last>;
    if constexpr (std::same_as<Value, ToolResult>) {
      if (last.is_error()) {
        auto content = tell_model(failure, text);
        detail::append_words(content, last.content);
        return detail::answer_with<R>(detail::error_result_of(failure, std::move(content)));
      }
    } else if constexpr (SaysIfError<Value> && std::convertible_to<Last, R>) {
      if (is_error_result(last) && !failure.outcome_unknown) return std::forward<Last>(last);
    }
    return failed<R>(std::move(failure));
  }
};

/// The same with a text that a function makes of the failure, and of the last failed value if it takes that, as in
/// `FormatFailure`. (G3, G8)
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
    return detail::answer_with<R>(detail::error_result_of(failure, make()));
  }
};

static_assert(FailureStrategy<TellModel>);

}  // namespace encore ENCORE_BUILD

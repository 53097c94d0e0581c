// fmt formatters for events, failures and outcomes, as one log line each, and for enumerators, by name. Link encore::fmt; needs fmt 9
// or newer.
#pragma once
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/outcome.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/log_text.hpp>

#include <fmt/format.h>

#include <string_view>

namespace encore ENCORE_BUILD::detail {

// Not constexpr: the compiler's error for an invalid format string then contains this name.
[[noreturn]] inline void a_log_line_is_formatted_with_j_and_x_only() {
#if defined(__cpp_exceptions)
  throw fmt::format_error{"encore: a log line is formatted with {}, {:x}, {:j} or {:jx}"};
#else
  refuse_setting("format", "{:?}", "is invalid: a log line is formatted with {}, {:x}, {:j} or {:jx}");
#endif
}

/// `{}` writes logfmt, `{:j}` JSON; `x` adds the exception's text, which may contain host names and keys. (F6)
struct LineFormatter {
  LogText how{};

  constexpr auto parse(fmt::format_parse_context& context) {
    auto at = context.begin();
    for (; at != context.end() && *at != '}'; ++at) {
      if (*at == 'j' && how.shape != LineShape::json)
        how.shape = LineShape::json;
      else if (*at == 'x' && !how.exception_text)
        how.exception_text = true;
      else
        a_log_line_is_formatted_with_j_and_x_only();
    }
    return at;
  }
  template <class Value, class Context>
  auto format(const Value& value, Context& context) const {
    return fmt::format_to(context.out(), "{}", log_text(value, how));
  }
};

/// Formats the name; accepts the format options of strings.
struct NameFormatter : fmt::formatter<std::string_view> {
  template <class Named, class Context>
  auto format(const Named& named, Context& context) const {
    return fmt::formatter<std::string_view>::format(to_string(named), context);
  }
};

}  // namespace ENCORE_BUILD::detail

/// Events may be formatted only inside the observer's callback: `spdlog::info("{}", event)`, `file << fmt::format("{:j}\n", event)`.
template <>
struct fmt::formatter<encore::Event> : encore::detail::LineFormatter {};
template <>
struct fmt::formatter<encore::Failure> : encore::detail::LineFormatter {};
template <class T>
struct fmt::formatter<encore::Outcome<T>> : encore::detail::LineFormatter {};

template <>
struct fmt::formatter<encore::StopReason> : encore::detail::NameFormatter {};
template <>
struct fmt::formatter<encore::EventKind> : encore::detail::NameFormatter {};
template <>
struct fmt::formatter<encore::TerminalMode> : encore::detail::NameFormatter {};

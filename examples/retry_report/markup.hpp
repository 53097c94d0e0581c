// What all parts of the page are written with.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

/// Appends to the page. The format is markup; values that come from a log have to be `html_text`.
template <class... Values>
void add(std::string& html, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(html), format, std::forward<Values>(values)...);
}

/// 1 call, 2 calls.
inline std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

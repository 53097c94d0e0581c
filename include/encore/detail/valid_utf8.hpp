// Text made valid UTF-8.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>

#include <string>
#include <string_view>

namespace encore ENCORE_BUILD::detail {

/// The text with U+FFFD in place of invalid UTF-8. Pure.
inline std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    valid += point.valid ? text.substr(0, point.size) : std::string_view{"\xEF\xBF\xBD"};
    text.remove_prefix(point.size);
  }
  return valid;
}

}  // namespace ENCORE_BUILD::detail

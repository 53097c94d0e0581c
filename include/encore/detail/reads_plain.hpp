// Text that needs no quotes in a line of names and values.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>

#include <string_view>

namespace encore ENCORE_BUILD {

/// Can the text be a logfmt value without quotes?
constexpr bool reads_plain(std::string_view text) noexcept {
  if (text.empty()) return false;
  while (!text.empty()) {
    const auto [character, size, valid] = first_code_point(text);
    if (!valid || character == U' ' || character == U'=' || is_escaped_in_quotes(character)) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace encore ENCORE_BUILD

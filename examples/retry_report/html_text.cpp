#include "html_text.hpp"

#include <encore/detail/quoted_text.hpp>

#include <fmt/format.h>

#include <iterator>

std::string html_text(std::string_view text, std::size_t most) {
  std::string html;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) return html.append("\u2026");
    const auto [character, size, valid] = encore::first_code_point(text);
    switch (character) {
      case U'&': html += "&amp;"; break;
      case U'<': html += "&lt;"; break;
      case U'>': html += "&gt;"; break;
      case U'"': html += "&quot;"; break;
      case U'\'': html += "&#39;"; break;
      case U'\\': html += '\\'; break;
      default:
        // XML has no U+FFFE and no U+FFFF, in whatever spelling.
        if (!valid || character == 0xFFFE || character == 0xFFFF)
          html += "\uFFFD";
        else if (encore::is_escaped_in_quotes(character))
          fmt::format_to(std::back_inserter(html), "\\u{:04x}", static_cast<unsigned>(character));
        else
          html += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return html;
}

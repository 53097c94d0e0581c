// Untrusted text as a quoted string that is safe in a line, a terminal and JSON.
#pragma once
#include <encore/detail/attributes.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// One character of UTF-8 text, or one invalid sequence.
struct CodePoint {
  char32_t value = 0;    ///< U+FFFD if the bytes are not UTF-8
  std::size_t size = 0;  ///< in bytes
  bool valid = false;
};

/// The first code point of a non-empty text. Of invalid bytes, the longest prefix that could begin a character is taken, at least one
/// byte (the Unicode Standard, 3.9, "maximal subpart"). Overlong forms, surrogates and values past U+10FFFF are invalid. Pure.
constexpr CodePoint first_code_point(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  constexpr char32_t replacement = 0xFFFD;
  if (lead < 0xC2 || lead > 0xF4) return {replacement, 1, false};
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte decides whether it is overlong, a surrogate or too large (the Unicode Standard, table 3-7).
  unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  auto value = lead & (0x7FU >> size);
  for (std::size_t at = 1; at < size; ++at, lowest = 0x80, highest = 0xBF) {
    if (at == text.size() || byte(at) < lowest || byte(at) > highest) return {replacement, at, false};
    value = value << 6 | (byte(at) & 0x3FU);
  }
  return {value, size, true};
}

/// Must this character be escaped? True for quotes, backslashes, control characters (ESC and CSI included), line and paragraph
/// separators, and characters that change the direction of text.
constexpr bool is_escaped_in_quotes(char32_t character) noexcept {
  return character < 0x20 || character == U'"' || character == U'\\' ||
         (character >= 0x7F && character <= 0x9F) || character == 0x061C || character == 0x200E ||
         character == 0x200F || (character >= 0x2028 && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

namespace detail {

inline void append_escape(std::string& out, char32_t character) {
  switch (character) {
    case U'"': out += "\\\""; break;
    case U'\\': out += "\\\\"; break;
    case U'\b': out += "\\b"; break;
    case U'\f': out += "\\f"; break;
    case U'\n': out += "\\n"; break;
    case U'\r': out += "\\r"; break;
    case U'\t': out += "\\t"; break;
    default:
      out += "\\u";
      for (auto shift = 16U; shift > 0;) out += "0123456789abcdef"[character >> (shift -= 4) & 0xFU];
  }
}

}  // namespace detail

/// Appends the text as a JSON string with its quotes (RFC 8259): one line of valid UTF-8 without terminal control characters. Bytes
/// that are not UTF-8 become U+FFFD.
///   append_quoted(line, "a\n\"b\"");  // "a\n\"b\"", in the JSON spelling
inline void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size, valid] = first_code_point(text.substr(at));
    if (valid && !is_escaped_in_quotes(character)) {
      at += size;
      continue;
    }
    out += text.substr(done, at - done);
    if (valid)
      detail::append_escape(out, character);
    else
      out += "\xEF\xBF\xBD";
    done = at += size;
  }
  out += text.substr(done);
  out += '"';
}

/// The text as `append_quoted` writes it.
inline std::string in_quotes(std::string_view text) {
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

namespace detail {

/// A name or an id for a sentence: unchanged if it is plain and short, else its first `max_size` bytes in quotes.
inline std::string shown(std::string_view text, std::size_t max_size = 80) {
  auto quoted = in_quotes(text.substr(0, max_size));
  const auto plain = text.find_first_of(" =") == text.npos && quoted.substr(1, quoted.size() - 2) == text;
  return plain && !text.empty() ? std::string{text} : quoted;
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD

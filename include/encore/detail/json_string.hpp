// Reads JSON strings (RFC 8259).
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace encore ENCORE_BUILD::detail {

/// Why a text is not a JSON object.
enum class JsonFault : std::uint8_t {
  none,
  no_object,          ///< it does not begin with `{`
  cut_off,            ///< it ends before the object does
  control_character,  ///< unescaped, in a string
  unknown_escape,
  half_of_a_pair,  ///< a surrogate without its other half
  no_value,        ///< something else stands where a name, a value or punctuation must be
  too_deep,
  not_at_its_end,  ///< more text follows the object
};

/// The fault as a predicate: "it " + to_string(fault).
constexpr std::string_view to_string(JsonFault fault) noexcept {
  switch (fault) {
    case JsonFault::none: return "has no fault";
    case JsonFault::no_object: return "is not a JSON object";
    case JsonFault::cut_off: return "ends too early";
    case JsonFault::control_character: return "has a string with a control character";
    case JsonFault::unknown_escape: return "has an unknown escape";
    case JsonFault::half_of_a_pair: return "has half of a surrogate pair";
    case JsonFault::no_value: return "is not valid JSON";
    case JsonFault::too_deep: return "is nested too deep";
    case JsonFault::not_at_its_end: return "has text after its end";
  }
  return "is not valid JSON";
}

inline void append_utf8(std::string& text, char32_t character) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto put_rest = [&](unsigned shift) {
    for (; shift > 0; shift -= 6) put(0x80 | (character >> (shift - 6) & 0x3F));
  };
  if (character < 0x80)
    put(character);
  else if (character < 0x800)
    put(0xC0 | character >> 6), put_rest(6);
  else if (character < 0x10000)
    put(0xE0 | character >> 12), put_rest(12);
  else
    put(0xF0 | character >> 18), put_rest(18);
}

/// The number of bytes before the first quote, backslash or control character. Checks eight bytes at a time: in `word - low`, the
/// highest bit of a byte becomes set if that byte was less than that of `low`.
inline std::size_t plain_json_size(std::string_view text) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highest_bits = 0x8080808080808080;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    const auto below = [](std::uint64_t bytes, std::uint64_t limit) {
      return (bytes - ones * limit) & ~bytes;
    };
    const auto special = below(word, 0x20) | below(word ^ ones * '"', 1) | below(word ^ ones * '\\', 1);
    if ((special & highest_bits) == 0) continue;
    // Borrows can set bits above the first match: only the lowest set bit is reliable.
    if constexpr (std::endian::native == std::endian::little)
      return at + static_cast<std::size_t>(std::countr_zero(special & highest_bits)) / 8;
    break;
  }
  while (at < text.size() && text[at] != '"' && text[at] != '\\' &&
         static_cast<unsigned char>(text[at]) >= 0x20)
    ++at;
  return at;
}

inline JsonFault take_json_unit(std::string_view& rest, std::uint32_t& unit) {
  if (rest.size() < 5 && (rest.empty() || rest.front() == 'u')) return JsonFault::cut_off;
  const auto digits = rest.substr(shared::smaller_of<std::size_t>(1, rest.size()), 4);
  const auto* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, unit, 16);
  if (rest.front() != 'u' || error != std::errc{} || stopped != end) return JsonFault::unknown_escape;
  rest.remove_prefix(5);
  return JsonFault::none;
}

/// Takes an escape without its backslash, and appends the character that it stands for.
inline JsonFault take_json_escape(std::string_view& rest, std::string& text) {
  constexpr std::string_view names{"\"\\/bfnrt"};
  constexpr std::string_view meanings{"\"\\/\b\f\n\r\t"};
  const char name = rest.empty() ? '\0' : rest.front();
  if (const auto at = names.find(name); at != names.npos) {
    rest.remove_prefix(1);
    text += meanings[at];
    return JsonFault::none;
  }
  std::uint32_t unit = 0;
  if (const auto fault = take_json_unit(rest, unit); fault != JsonFault::none) return fault;
  if (unit >= 0xD800 && unit <= 0xDFFF) {
    // A character past U+FFFF is written as a surrogate pair.
    if (rest.empty()) return JsonFault::cut_off;
    if (unit > 0xDBFF || !rest.starts_with('\\')) return JsonFault::half_of_a_pair;
    rest.remove_prefix(1);
    std::uint32_t low = 0;
    if (const auto fault = take_json_unit(rest, low); fault != JsonFault::none) return fault;
    if (low < 0xDC00 || low > 0xDFFF) return JsonFault::half_of_a_pair;
    unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(text, unit);
  return JsonFault::none;
}

/// Takes a string from the front of `rest`, which begins with its opening quote. `text` is the unescaped string: a view of `rest`
/// if it has no escapes, else of `buffer`. After a fault, `rest` and `text` are unspecified.
[[nodiscard]] inline JsonFault take_json_string(std::string_view& rest, std::string& buffer,
                                                std::string_view& text) {
  rest.remove_prefix(1);
  const auto plain_until = [&] { return plain_json_size(rest); };
  auto end = plain_until();
  if (end < rest.size() && rest[end] == '"') {
    text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return JsonFault::none;
  }
  buffer.clear();
  for (;; end = plain_until()) {
    buffer += rest.substr(0, end);
    rest.remove_prefix(end);
    if (rest.empty()) return JsonFault::cut_off;
    const char mark = rest.front();
    if (mark != '"' && mark != '\\') return JsonFault::control_character;
    rest.remove_prefix(1);
    if (mark == '"') break;
    if (const auto fault = take_json_escape(rest, buffer); fault != JsonFault::none) return fault;
  }
  text = buffer;
  return JsonFault::none;
}

}  // namespace ENCORE_BUILD::detail

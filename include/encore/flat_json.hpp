// A JSON object without nesting, read without another library.
#pragma once
#include <encore/extremes.hpp>
#include <encore/quoted_text.hpp>
#include <encore/setting.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace encore {

/// A value as it was written; of a string, what it says.
struct FlatJsonValue {
  std::string text{};
  bool quoted = false;
  friend bool operator==(const FlatJsonValue&, const FlatJsonValue&) = default;
};

/// A field of one value, or of an array of them.
struct FlatJsonField {
  std::string name{};
  std::vector<FlatJsonValue> values{};
  bool is_array = false;
  friend bool operator==(const FlatJsonField&, const FlatJsonField&) = default;
};

/// Reads one object whose values are strings, numbers, truth values, null, or arrays of these (RFC 8259). Words that are no
/// strings are taken as they stand: who asks for a number checks it. A name that comes twice is refused.
class FlatJsonReader {
 public:
  explicit FlatJsonReader(std::string_view line) noexcept : line_{line}, rest_{line} {}

  /// Throws `std::invalid_argument` that quotes the line and says what is wrong with it.
  std::vector<FlatJsonField> read() {
    std::vector<FlatJsonField> fields;
    take('{');
    if (!took('}')) {
      do {
        auto field = read_field();
        for (const auto& earlier : fields)
          if (earlier.name == field.name) refuse("has a field twice");
        fields.push_back(std::move(field));
      } while (took(','));
      take('}');
    }
    if (!rest_.empty()) refuse("has something after its end");
    return fields;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    std::string quoted;
    append_quoted(quoted, line_.substr(0, 200));
    refuse_setting("the line", quoted, "is refused: it " + std::string{why});
  }

  void skip_spaces() noexcept {
    rest_.remove_prefix(smaller_of(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool took(char character) noexcept {
    skip_spaces();
    if (!rest_.starts_with(character)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  void take(char character) {
    if (!took(character)) refuse(std::string{"is no flat JSON object: '"} + character + "' is missing");
  }

  FlatJsonField read_field() {
    FlatJsonField field;
    field.name = read_string();
    take(':');
    field.is_array = took('[');
    if (!field.is_array) {
      field.values.push_back(read_value());
    } else if (!took(']')) {
      do field.values.push_back(read_value());
      while (took(','));
      take(']');
    }
    return field;
  }
  FlatJsonValue read_value() {
    if (rest_.starts_with('"')) return {read_string(), true};
    const auto word = rest_.substr(0, smaller_of(rest_.find_first_of(",]} \t\r\n"), rest_.size()));
    if (word.empty() || word.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE") != word.npos)
      refuse("has something nested, or no value");
    rest_.remove_prefix(word.size());
    skip_spaces();
    return {std::string{word}, false};
  }

  std::string read_string() {
    std::string text;
    if (!rest_.starts_with('"')) refuse("is no flat JSON object: a string is missing");
    rest_.remove_prefix(1);
    while (!rest_.starts_with('"')) {
      if (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x20)
        refuse("has a string with a control character, or without an end");
      const char character = rest_.front();
      rest_.remove_prefix(1);
      if (character == '\\')
        append_utf8(text, read_escape());
      else
        text += character;
    }
    rest_.remove_prefix(1);
    skip_spaces();
    return text;
  }
  char32_t read_escape() {
    constexpr std::string_view names{"\"\\/bfnrt"};
    constexpr std::string_view meanings{"\"\\/\b\f\n\r\t"};
    const char name = rest_.empty() ? '\0' : rest_.front();
    if (const auto at = names.find(name); at != names.npos) {
      rest_.remove_prefix(1);
      return static_cast<unsigned char>(meanings[at]);
    }
    const auto unit = read_unit();
    if (unit < 0xD800 || unit > 0xDFFF) return unit;
    // A character past U+FFFF is written as a surrogate pair.
    if (unit > 0xDBFF || !rest_.starts_with('\\')) refuse("has half of a surrogate pair");
    rest_.remove_prefix(1);
    const auto low = read_unit();
    if (low < 0xDC00 || low > 0xDFFF) refuse("has half of a surrogate pair");
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
  }
  char32_t read_unit() {
    std::uint32_t unit = 0;
    const auto digits = rest_.substr(smaller_of<std::size_t>(1, rest_.size()), 4);
    const auto* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, unit, 16);
    if (!rest_.starts_with('u') || digits.size() < 4 || error != std::errc{} || stopped != end)
      refuse("has an unknown escape");
    rest_.remove_prefix(5);
    return unit;
  }
  static void append_utf8(std::string& text, char32_t character) {
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

  std::string_view line_;
  std::string_view rest_;
};

}  // namespace encore

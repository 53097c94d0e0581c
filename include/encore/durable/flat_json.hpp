// A JSON object without nesting, read without another library.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/json_string.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/setting.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace encore ENCORE_BUILD {

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
      do fields.push_back(read_field());
      while (took(','));
      take('}');
    }
    if (!rest_.empty()) refuse("has something after its end");
    if (has_a_name_twice(fields)) refuse("has a field twice");
    return fields;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    std::string quoted;
    append_quoted(quoted, line_.substr(0, 200));
    refuse_setting("the line", quoted, "is refused: it " + std::string{why});
  }

  static bool has_a_name_twice(const std::vector<FlatJsonField>& fields) {
    std::vector<std::string_view> names;
    names.reserve(fields.size());
    for (const auto& field : fields) names.push_back(field.name);
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
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
    if (!rest_.starts_with('"')) refuse("is no flat JSON object: a string is missing");
    std::string buffer;
    std::string_view text;
    const auto fault = take_json_string(rest_, buffer, text);
    if (fault == JsonFault::cut_off || fault == JsonFault::control_character)
      refuse("has a string with a control character, or without an end");
    if (fault != JsonFault::none) refuse(to_string(fault));
    std::string read{text};
    skip_spaces();
    return read;
  }

  std::string_view line_;
  std::string_view rest_;
};

}  // namespace encore ENCORE_BUILD

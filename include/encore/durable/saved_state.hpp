// Saved state: one flat JSON object per line, whose first field `state` names the kind of the line.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/hexadecimal.hpp>
#include <encore/detail/json_scanner.hpp>
#include <encore/detail/json_string.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/setting.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

namespace detail {

constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto point = first_code_point(text);
    if (!point.valid) return false;
    text.remove_prefix(point.size);
  }
  return true;
}

}  // namespace detail

/// Writes one line, without a line end. A state of your own guard (`RunGuard`) saves itself with it.
///   StateLine{"spend_limit"}.add("spent_usd", "0.5").text()  // {"state":"spend_limit","spent_usd":"0.5"}
class StateLine {
 public:
  explicit StateLine(std::string_view kind) { add("state", kind); }

  StateLine& add(std::string_view field, std::int64_t value) { return write(field, value); }
  StateLine& add(std::string_view field, std::string_view value) { return write(field, value); }
  StateLine& add(std::string_view field, const std::vector<std::int64_t>& values) {
    return write(field, values);
  }
  StateLine& add(std::string_view field, const std::vector<std::string>& values) {
    return write(field, values);
  }
  /// Adds a text that is restored byte for byte. JSON holds only UTF-8: any other text is written in hexadecimal, as
  /// `<field>_hex`.
  StateLine& add_bytes(std::string_view field, std::string_view bytes) {
    if (detail::is_utf8(bytes)) return add(field, bytes);
    return add(std::string{field}.append(hex_ending), detail::hexadecimal(bytes));
  }
  std::string text() const { return text_ + '}'; }

  static constexpr std::string_view hex_ending{"_hex"};

 private:
  template <class Value>
  StateLine& write(std::string_view field, const Value& value) {
    append_quoted(text_ += text_.empty() ? '{' : ',', field);
    put(text_ += ':', value);
    return *this;
  }
  static void put(std::string& text, std::int64_t value) { text += std::to_string(value); }
  static void put(std::string& text, std::string_view value) { append_quoted(text, value); }
  template <class Value>
  static void put(std::string& text, const std::vector<Value>& values) {
    char before = '[';
    for (const auto& value : values) put(text += std::exchange(before, ','), value);
    text += values.empty() ? "[]" : "]";
  }

  std::string text_;
};

namespace detail {

/// The bytes that the digits stand for; nothing if they are not hexadecimal or not in pairs.
inline std::optional<std::string> from_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    for (const char digit : digits.substr(i, 2)) {
      const auto value = std::string_view{"0123456789abcdef"}.find(digit);
      if (value == std::string_view::npos) return std::nullopt;
      byte = byte << 4U | static_cast<unsigned>(value);
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace detail

/// One saved line, read back. The constructor and every function that reads a value throw `std::invalid_argument`, naming field
/// and value, if the line is not a flat JSON object, the field is missing, or the value is not of the kind that was asked for.
class SavedLine {
 public:
  explicit SavedLine(std::string_view line) {
    const auto fault = detail::JsonScanner{}.scan_flat(line, [&](const detail::JsonField& field) {
      if (!field.in_array) fields_.push_back({std::string{field.name}, {}, field.is_array});
      if (!field.is_array) fields_.back().values.push_back({std::string{field.value}, field.quoted});
    });
    if (fault != detail::JsonFault::none) refuse_line(line, why_not_flat(line, fault));
    if (has_a_name_twice()) refuse_line(line, "has a field twice");
  }

  bool has(std::string_view field) const noexcept { return find(field) != fields_.end(); }
  /// A string, unescaped. The view is valid as long as the line.
  std::string_view text(std::string_view field) const { return as_text(field, single(field)); }
  /// What `StateLine::add_bytes` wrote.
  std::string bytes(std::string_view field) const {
    const auto hex = hex_name(field);
    if (!has(hex)) return std::string{text(field)};
    auto bytes = detail::from_hexadecimal(text(hex));
    if (!bytes) refuse(hex, single(hex), "hexadecimal digits, two for each byte");
    return std::move(*bytes);
  }
  bool has_bytes(std::string_view field) const { return has(field) || has(hex_name(field)); }
  /// A whole number from 0 to 2^53 - 1, which every JSON reader keeps exactly.
  std::int64_t count(std::string_view field) const { return as_count(field, single(field)); }
  /// The same, from `min` to `max`.
  std::int64_t count(std::string_view field, std::int64_t min, std::int64_t max) const {
    const auto number = count(field);
    if (number < min || number > max)
      refuse_setting(field, std::to_string(number),
                     "is invalid: it must be from " + std::to_string(min) + " to " + std::to_string(max));
    return number;
  }
  /// True for 1, false for 0.
  bool flag(std::string_view field) const { return count(field, 0, 1) == 1; }
  /// An array of strings.
  std::vector<std::string> texts(std::string_view field) const {
    std::vector<std::string> all;
    for (const auto& value : array(field)) all.emplace_back(as_text(field, value));
    return all;
  }
  /// An array of whole numbers from 0 to 2^53 - 1.
  std::vector<std::int64_t> counts(std::string_view field) const {
    std::vector<std::int64_t> all;
    for (const auto& value : array(field)) all.push_back(as_count(field, value));
    return all;
  }

 private:
  /// As written; the contents of a string.
  struct Value {
    std::string text{};
    bool quoted = false;
  };
  struct Field {
    std::string name{};
    std::vector<Value> values{};
    bool is_array = false;
  };

  [[noreturn]] static void refuse_line(std::string_view line, std::string_view why) {
    refuse_setting("the line", in_quotes(line.substr(0, 200)), "is invalid: it " + std::string{why});
  }
  static std::string_view why_not_flat(std::string_view line, detail::JsonFault fault) noexcept {
    using detail::JsonFault;
    switch (fault) {
      case JsonFault::cut_off:
        if (line.find('{') != line.npos) return "is not a flat JSON object: '}' is missing";
        [[fallthrough]];
      case JsonFault::no_object: return "is not a flat JSON object: '{' is missing";
      case JsonFault::no_value: return "has a nested value, or none";
      case JsonFault::control_character:
        return "has a string that contains a control character or has no end";
      default: return to_string(fault);
    }
  }
  bool has_a_name_twice() const {
    std::vector<std::string_view> names;
    names.reserve(fields_.size());
    for (const auto& field : fields_) names.push_back(field.name);
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
  }

  static std::string hex_name(std::string_view field) {
    return std::string{field}.append(StateLine::hex_ending);
  }

  [[noreturn]] static void refuse(std::string_view field, const Value& value, std::string_view what) {
    refuse_setting(field, value.quoted ? in_quotes(value.text) : value.text,
                   "is invalid: it must be " + std::string{what});
  }
  std::vector<Field>::const_iterator find(std::string_view name) const noexcept {
    return std::ranges::find(fields_, name, &Field::name);
  }
  const Field& required(std::string_view name) const {
    const auto field = find(name);
    if (field == fields_.end())
      refuse_setting(name, "nothing", "is invalid: the saved line has no such field");
    return *field;
  }
  const Value& single(std::string_view name) const {
    const auto& field = required(name);
    if (field.is_array) refuse(name, {"[...]", false}, "one value");
    return field.values.front();
  }
  const std::vector<Value>& array(std::string_view name) const {
    const auto& field = required(name);
    if (!field.is_array) refuse(name, field.values.front(), "an array");
    return field.values;
  }
  static std::string_view as_text(std::string_view field, const Value& value) {
    if (!value.quoted) refuse(field, value, "a string");
    return value.text;
  }
  static std::int64_t as_count(std::string_view field, const Value& value) {
    constexpr auto max = (std::int64_t{1} << 53) - 1;
    std::int64_t number = 0;
    const auto* const end = value.text.data() + value.text.size();
    const auto [stopped, error] = std::from_chars(value.text.data(), end, number);
    if (value.quoted || error != std::errc{} || stopped != end || number < 0 || number > max)
      refuse(field, value, "a whole number from 0 to 9007199254740991");
    return number;
  }

  std::vector<Field> fields_;
};

/// The saved lines of this kind, in order; valid lines of other kinds and empty ones are skipped. Throws `std::invalid_argument`
/// if any line cannot be read.
inline std::vector<SavedLine> saved_lines(std::string_view text, std::string_view kind) {
  std::vector<SavedLine> lines;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(shared::smaller_of(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    if (SavedLine saved{line}; saved.text("state") == kind) lines.push_back(std::move(saved));
  }
  return lines;
}

/// The same; throws `std::invalid_argument` unless there are `expected` of them.
inline std::vector<SavedLine> saved_lines(std::string_view text, std::string_view kind,
                                          std::size_t expected) {
  auto lines = saved_lines(text, kind);
  if (lines.size() != expected)
    refuse_setting("number of " + std::string{kind} + " lines", std::to_string(lines.size()),
                   "is invalid: it must be " + std::to_string(expected));
  return lines;
}

/// The same, with the number of lines in a field of another line, since a text may have lost its end. Without that field any
/// number is accepted.
inline std::vector<SavedLine> saved_lines(std::string_view text, std::string_view kind, const SavedLine& head,
                                          std::string_view field) {
  return head.has(field) ? saved_lines(text, kind, static_cast<std::size_t>(head.count(field)))
                         : saved_lines(text, kind);
}

/// The saved line of this kind. Throws `std::invalid_argument` unless there is exactly one.
inline SavedLine saved_line(std::string_view text, std::string_view kind) {
  return std::move(saved_lines(text, kind, 1).front());
}

}  // namespace encore ENCORE_BUILD

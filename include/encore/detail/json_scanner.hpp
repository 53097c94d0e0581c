// Visits the fields of a JSON object without building a document.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/json_string.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD::detail {

/// A field as written, strings unescaped. Valid until the next field.
struct JsonField {
  std::string_view name{};  ///< of a field in a nested object: outer.inner
  std::string_view value{};
  bool quoted = false;
  bool is_array = false;  ///< with `scan_flat` only: the array's values follow one by one
  bool in_array = false;
};

/// Scans the text of one object (RFC 8259) and calls `show` with each field. Names of nested fields are joined by dots; arrays are
/// skipped. Unquoted values are passed on unchecked, duplicate names more than once. Reuses its memory from line to line, and
/// allocates nothing for a flat line without escapes. Not thread-safe.
///   scanner.scan(R"({"id":"call-17","error":{"type":"timeout"}})", show)  // shows id, then error.type
class JsonScanner {
 public:
  static constexpr std::size_t max_depth = 64;  ///< of nested objects and arrays

  /// Returns the first fault. The fields before it have been shown.
  template <class Show>
  [[nodiscard]] JsonFault scan(std::string_view text, Show&& show) {
    return scan<false>(text, show);
  }
  /// For an object of values and arrays of values. Array values are shown too; deeper nesting is a fault.
  template <class Show>
  [[nodiscard]] JsonFault scan_flat(std::string_view text, Show&& show) {
    return scan<true>(text, show);
  }

 private:
  template <bool Flat, class Show>
  JsonFault scan(std::string_view text, Show& show) {
    rest_ = text;
    path_.clear();
    skip_spaces();
    if (!took('{')) return rest_.empty() ? JsonFault::cut_off : JsonFault::no_object;
    std::array<std::size_t, max_depth> outer_paths{};  // the length of the path outside each object
    std::size_t depth = 1;
    for (auto first = true; depth > 0;) {
      if (took('}')) {
        if (--depth > 0) path_.resize(outer_paths[depth]);
        first = false;
        continue;
      }
      if (!first && !took(',')) return missing();
      first = false;
      std::string_view name;
      if (const auto fault = take_name(name); fault != JsonFault::none) return fault;
      if (!Flat && took('{')) {
        if (depth == max_depth) return JsonFault::too_deep;
        outer_paths[depth++] = path_.size();
        path_.append(name).append(1, '.');
        first = true;
      } else if (rest_.starts_with('[')) {
        if (const auto fault = Flat ? show_array(name, show) : skip_array(); fault != JsonFault::none)
          return fault;
      } else {
        JsonField field{.name = name};
        if (const auto fault = take_value(field); fault != JsonFault::none) return fault;
        if (depth == 1) {
          show(static_cast<const JsonField&>(field));
        } else {  // appended to the path in place, which avoids a copy of the path for each field
          const auto path = path_.size();
          field.name = path_.append(name);
          show(static_cast<const JsonField&>(field));
          path_.resize(path);
        }
      }
    }
    return rest_.empty() ? JsonFault::none : JsonFault::not_at_its_end;
  }

  void skip_spaces() noexcept {
    while (rest_.starts_with(' ') || rest_.starts_with('\t') || rest_.starts_with('\r') ||
           rest_.starts_with('\n'))
      rest_.remove_prefix(1);
  }
  bool took(char character) noexcept {
    if (!rest_.starts_with(character)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  JsonFault missing() const noexcept { return rest_.empty() ? JsonFault::cut_off : JsonFault::no_value; }

  JsonFault take_name(std::string_view& name) {
    if (!rest_.starts_with('"')) return missing();
    if (const auto fault = take_json_string(rest_, name_, name); fault != JsonFault::none) return fault;
    skip_spaces();
    return took(':') ? JsonFault::none : missing();
  }

  JsonFault take_value(JsonField& field) {
    field.quoted = rest_.starts_with('"');
    if (field.quoted) {
      if (const auto fault = take_json_string(rest_, value_, field.value); fault != JsonFault::none)
        return fault;
    } else {
      std::size_t size = 0;
      while (size < rest_.size() && is_in_word(rest_[size])) ++size;
      if (size == 0) return missing();
      field.value = rest_.substr(0, size);
      rest_.remove_prefix(size);
    }
    skip_spaces();
    return JsonFault::none;
  }
  static constexpr bool is_in_word(char character) noexcept {
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           character == '-' || character == '+' || character == '.' || character == 'E';
  }

  template <class Show>
  JsonFault show_array(std::string_view name, Show& show) {
    show(JsonField{.name = name, .is_array = true});
    took('[');
    if (took(']')) return JsonFault::none;
    do {
      JsonField value{.name = name, .in_array = true};
      if (const auto fault = take_value(value); fault != JsonFault::none) return fault;
      show(static_cast<const JsonField&>(value));
    } while (took(','));
    return took(']') ? JsonFault::none : missing();
  }

  /// Checks only that brackets match and strings are valid.
  JsonFault skip_array() {
    std::uint64_t objects = 0;  // a bit per level: is it an object?
    std::size_t depth = 0;
    do {
      if (rest_.empty()) return JsonFault::cut_off;
      const char mark = rest_.front();
      if (mark == '"') {
        std::string_view text;
        if (const auto fault = take_json_string(rest_, value_, text); fault != JsonFault::none) return fault;
        continue;
      }
      rest_.remove_prefix(1);
      if (mark == '[' || mark == '{') {
        if (depth == max_depth) return JsonFault::too_deep;
        objects = objects << 1 | (mark == '{' ? 1U : 0U);
        ++depth;
      } else if (mark == ']' || mark == '}') {
        if ((objects & 1) != (mark == '}' ? 1U : 0U)) return JsonFault::no_value;
        objects >>= 1;
        --depth;
      }
    } while (depth > 0);
    skip_spaces();
    return JsonFault::none;
  }

  std::string_view rest_;
  std::string path_;
  std::string name_;
  std::string value_;
};

}  // namespace ENCORE_BUILD::detail

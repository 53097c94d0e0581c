// A strict reader of one flat JSON object on one line, made for tests alone: it throws at anything that RFC 8259 forbids.
#pragma once
#include "../terminal_text.hpp"

#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

/// Names and values in order. Strings are decoded; numbers, true and false are as they were written.
using FlatJson = std::vector<std::pair<std::string, std::string>>;

/// Nothing that ends a line, acts on a terminal or turns the text around it.
inline bool is_one_clean_line(std::string_view line) { return !encore_tests::acts_on_a_terminal(line); }

class FlatJsonReader {
 public:
  explicit FlatJsonReader(std::string_view text) : rest_{text} {}

  FlatJson read() {
    FlatJson fields;
    take('{');
    while (!takes('}')) {
      if (!fields.empty()) take(',');
      auto name = string();
      for (const auto& field : fields) require(field.first != name, "a name twice");
      take(':');
      fields.emplace_back(std::move(name), next() == '"' ? string() : word());
    }
    require(rest_.empty(), "something after the object");
    return fields;
  }

 private:
  static void require(bool holds, const char* otherwise) {
    if (!holds) throw std::runtime_error{otherwise};
  }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool takes(char character) {
    if (next() != character || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void take(char character) { require(takes(character), "another character was due"); }

  std::string word() {
    const auto end = rest_.find_first_of(",}");
    require(end != std::string_view::npos, "a value without an end");
    const auto text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    require(text == "true" || text == "false" || is_number(text), "neither a number nor a truth value");
    return std::string{text};
  }
  static bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    const auto digits = [&] {
      std::size_t count = 0;
      for (; count < text.size() && std::isdigit(static_cast<unsigned char>(text[count])) != 0; ++count) {}
      const auto taken = text.substr(0, count);
      text.remove_prefix(count);
      return taken;
    };
    const auto whole = digits();
    if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return false;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      if (digits().empty()) return false;
    }
    return text.empty();
  }

  std::string string() {
    take('"');
    std::string text;
    while (!takes('"')) {
      require(!rest_.empty() && static_cast<unsigned char>(next()) >= 0x20, "a control character, or no end");
      if (takes('\\'))
        escape(text);
      else
        text += next(), rest_.remove_prefix(1);
    }
    return text;
  }
  void escape(std::string& text) {
    constexpr std::string_view names{"\"\\/bfnrt"};
    constexpr std::string_view meanings{"\"\\/\b\f\n\r\t"};
    const auto name = next();
    if (!rest_.empty()) rest_.remove_prefix(1);
    if (const auto at = names.find(name); at != std::string_view::npos) {
      text += meanings[at];
      return;
    }
    require(name == 'u' && rest_.size() >= 4, "an unknown escape");
    unsigned value = 0;
    for (const char digit : rest_.substr(0, 4)) {
      require(std::isxdigit(static_cast<unsigned char>(digit)) != 0, "no hexadecimal digit");
      value = value * 16 + static_cast<unsigned>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    rest_.remove_prefix(4);
    require(value < 0xD800 || value > 0xDFFF, "a surrogate, which these lines never need");
    append_utf8(text, value);
  }
  static void append_utf8(std::string& text, unsigned value) {
    const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
    if (value < 0x80) return put(value);
    if (value < 0x800) return put(0xC0 | value >> 6), put(0x80 | (value & 0x3F));
    put(0xE0 | value >> 12), put(0x80 | (value >> 6 & 0x3F)), put(0x80 | (value & 0x3F));
  }

  std::string_view rest_;
};

inline FlatJson flat_json(std::string_view line) { return FlatJsonReader{line}.read(); }

}  // namespace tests

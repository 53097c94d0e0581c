// What no text that people read may contain, decided apart from the library's own quoting.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace encore_tests {

using namespace std::string_view_literals;

/// What a hostile name may hold: line ends, escape sequences, controls of 8 bits, what is no UTF-8, and changes of direction.
inline constexpr std::array hostile_texts{"\n"sv,
                                          "\x1B[2J"sv,
                                          "\x7F"sv,
                                          "\xC2\x85"sv,
                                          "\xC2\x9B"sv,
                                          "\x9B"sv,
                                          "\xFF"sv,
                                          "\xD8\x9C"sv,
                                          "\xE2\x80\x8E"sv,
                                          "\xE2\x80\x8F"sv,
                                          "\xE2\x80\xA8"sv,
                                          "\xE2\x80\xA9"sv,
                                          "\xE2\x80\xAA"sv,
                                          "\xE2\x80\xAE"sv,
                                          "\xE2\x81\xA6"sv,
                                          "\xE2\x81\xA9"sv,
                                          "\0"sv};

/// A control character, those of 8 bits (C1: NEL, CSI) included, alone or as UTF-8; a separator of lines or paragraphs; or
/// something that turns the direction of the text around it.
constexpr bool is_unsafe(char32_t character) noexcept {
  return character < 0x20 || (character >= 0x7F && character <= 0x9F) || character == 0x061C ||
         character == 0x200E || character == 0x200F || (character >= 0x2028 && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

/// Does something in the text act on a terminal, end a line, or turn what stands around it? Bytes that are no UTF-8 do: to a
/// terminal of 8 bits they may be controls.
constexpr bool acts_on_a_terminal(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || text.size() - at <= more) return true;
    char32_t character = more == 0 ? lead : lead & (0x3FU >> more);
    for (std::size_t i = 1; i <= more; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      if ((byte & 0xC0) != 0x80) return true;
      character = character << 6 | (byte & 0x3F);
    }
    if (is_unsafe(character)) return true;
    at += more + 1;
  }
  return false;
}

/// The same of a text of several lines: where they end is its own affair.
constexpr bool lines_act_on_a_terminal(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (acts_on_a_terminal(line)) return true;
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  }
  return false;
}

}  // namespace encore_tests

// Words and bytes as scopes, fingerprints and saved state write them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore::shared {

/// 16 lower-case hexadecimal digits, the highest first.
inline std::string hexadecimal(std::uint64_t bits) {
  std::string digits(16, '0');
  for (unsigned i = 0; i < 16; ++i) digits[15 - i] = "0123456789abcdef"[bits >> (4 * i) & 15U];
  return digits;
}

/// Two digits for each byte.
inline std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes)
    digits.append(hexadecimal(std::uint64_t{static_cast<unsigned char>(byte)}), 14, 2);
  return digits;
}
/// The bytes that such digits stand for; empty if they are none.
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

}  // namespace encore::shared

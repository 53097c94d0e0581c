// Hexadecimal text of words and bytes, for scopes, fingerprints and saved state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore::shared {

/// 16 lower-case hexadecimal digits, most significant first.
inline std::string hexadecimal(std::uint64_t bits) {
  std::string digits(16, '0');
  for (unsigned i = 0; i < 16; ++i) digits[15 - i] = "0123456789abcdef"[bits >> (4 * i) & 15U];
  return digits;
}

/// Two lower-case digits for each byte.
inline std::string& append_hexadecimal(std::string& digits, std::string_view bytes) {
  for (const char byte : bytes) {
    digits += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4U];
    digits += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15U];
  }
  return digits;
}
inline std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  return append_hexadecimal(digits, bytes);
}

}  // namespace encore::shared

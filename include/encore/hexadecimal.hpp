// A word as scopes, fingerprints and saved state write it.
#pragma once
#include <cstdint>
#include <string>

namespace encore::detail {

/// 16 lower-case hexadecimal digits, the highest first.
inline std::string hexadecimal(std::uint64_t bits) {
  std::string digits(16, '0');
  for (unsigned i = 0; i < 16; ++i) digits[15 - i] = "0123456789abcdef"[bits >> (4 * i) & 15U];
  return digits;
}

}  // namespace encore::detail

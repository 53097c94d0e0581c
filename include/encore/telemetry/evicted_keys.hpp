// Which names may have been seen before, of any number, in memory that does not grow.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace encore {

/// The names of what was evicted, as a Bloom filter (Bloom, 1970): it never denies a name that it was given; after a million names it
/// claims four in a million others. 4 MB from the first name on. One thread at a time.
class EvictedKeys {
 public:
  void add(std::string_view key) {
    if (words_.empty()) words_.resize(word_count);
    for (const auto bit : bits_of(key)) words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  bool may_hold(std::string_view key) const noexcept {
    if (words_.empty()) return false;
    for (const auto bit : bits_of(key))
      if ((words_[bit / 64] >> (bit % 64) & 1) == 0) return false;
    return true;
  }

 private:
  static constexpr std::size_t bit_count = std::size_t{1} << 25;
  static constexpr std::size_t word_count = bit_count / 64;

  // The steps of one walk, whose stride is odd: eight places that two names hardly share (Kirsch and Mitzenmacher, 2006).
  static std::array<std::size_t, 8> bits_of(std::string_view key) noexcept {
    std::uint64_t place = std::hash<std::string_view>{}(key) * 0x9E3779B97F4A7C15;
    const auto stride = (place >> 32) | 1;
    std::array<std::size_t, 8> bits{};
    for (auto& bit : bits) bit = static_cast<std::size_t>((place += stride) % bit_count);
    return bits;
  }

  std::vector<std::uint64_t> words_{};
};

}  // namespace encore

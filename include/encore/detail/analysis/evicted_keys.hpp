// A set of evicted keys in bounded memory, with rare false positives.
#pragma once
#include <encore/detail/attributes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// The hashes of evicted keys: exact for the first 1,024, then a Bloom filter (Bloom, 1970). It finds every key that was added;
/// after a million keys it also reports four in a million that were not. At most 4 MB. Not thread-safe.
class EvictedKeys {
 public:
  void add(std::string_view key) {
    if (words_.empty()) {
      few_.insert(hash_of(key));
      if (few_.size() <= max_exact_names) return;
      words_.resize(bit_count / 64);
      for (const auto hash : few_) set(hash);
      few_ = {};
    }
    set(hash_of(key));
  }
  bool may_contain(std::string_view key) const noexcept {
    if (words_.empty()) return few_.contains(hash_of(key));
    for (const auto bit : bits_of(hash_of(key)))
      if ((words_[bit / 64] >> (bit % 64) & 1) == 0) return false;
    return true;
  }

 private:
  static constexpr std::size_t max_exact_names = 1'024;
  static constexpr std::size_t bit_count = std::size_t{1} << 25;

  static std::uint64_t hash_of(std::string_view key) noexcept {
    return std::hash<std::string_view>{}(key) * 0x9E3779B97F4A7C15;
  }
  // Eight hash functions derived from one hash by double hashing, with an odd stride (Kirsch and Mitzenmacher, 2006).
  static std::array<std::size_t, 8> bits_of(std::uint64_t place) noexcept {
    const auto stride = (place >> 32) | 1;
    std::array<std::size_t, 8> bits{};
    for (auto& bit : bits) bit = static_cast<std::size_t>((place += stride) % bit_count);
    return bits;
  }
  void set(std::uint64_t hash) noexcept {
    for (const auto bit : bits_of(hash)) words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }

  std::unordered_set<std::uint64_t> few_{};
  std::vector<std::uint64_t> words_{};
};

}  // namespace ENCORE_BUILD::detail

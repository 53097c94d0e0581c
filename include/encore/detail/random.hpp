// Random numbers for jitter: cheap, seedable, without locks or shared state.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/scope.hpp>

#include <cstdint>
#include <string_view>

namespace encore::shared {

/// Mixes the bits of a word, so that similar inputs give unrelated outputs (the finaliser of SplitMix64, Steele et al., 2014).
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// One call's random numbers: a 64-bit linear congruential generator whose draws are the upper 53 bits. It takes eight bytes and half
/// the instructions of SplitMix64; the multiplier passes the spectral test in two to eight dimensions (Steele and Vigna,
/// Computationally easy, spectrally good multipliers, 2022). Similar seeds give similar first draws: use well-mixed ones. Not for
/// cryptography. (C8)
class Random {
 public:
  constexpr explicit Random(std::uint64_t stream) noexcept : state_{stream} {}

  /// The next draw, uniform in [0, 1), with 53 random bits.
  constexpr double draw() noexcept {
    state_ = state_ * 0xd1342543de82ef95U + 1;
    const auto upper = static_cast<std::int64_t>(state_ >> 11);  // signed: a double at once, without a branch
    return static_cast<double>(upper) * 0x1p-53;
  }
  /// The state: `Random{state()}` continues with the same draws.
  constexpr std::uint64_t state() const noexcept { return state_; }

 private:
  std::uint64_t state_;
};

/// The stream of a seeded policy: a function of seed and call id only, so that a run is reproducible. (C8)
constexpr std::uint64_t stream_of(std::uint64_t seed, std::string_view call_id) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, 64 bit
  for (const char character : call_id) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  return mix(mix(seed) ^ hash);
}

/// A stream unique in this process and, with high probability, among processes: SplitMix64's outputs, seeded by the process's scope.
/// Thread-safe. (C8)
ENCORE_COLD inline std::uint64_t fresh_stream() noexcept {
  return mix(Scope::process().low() + next_number() * 0x9e3779b97f4a7c15U);
}

}  // namespace encore::shared

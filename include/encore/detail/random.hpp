// The draws that jitter is made of: cheap, seedable, without a lock and without shared state.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/scope.hpp>

#include <cstdint>
#include <string_view>

namespace encore {

/// Spreads the bits of a word so that near inputs give far outputs (the finaliser of SplitMix64, Steele et al., 2014).
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// One call's stream of draws: a linear congruential generator of 64 bits, of which a draw is the upper 53. Eight bytes, and
/// half the instructions of SplitMix64. The multiplier is good by the spectral test in two to eight dimensions (Steele and Vigna,
/// Computationally easy, spectrally good multipliers, 2022). Near streams begin with near draws: make them by `stream_of`,
/// `fresh_stream` or `mix`. Not for secrets. (C8)
class Random {
 public:
  constexpr explicit Random(std::uint64_t stream) noexcept : state_{stream} {}

  /// The next draw, uniform in [0, 1), with 53 random bits.
  constexpr double draw() noexcept {
    state_ = state_ * 0xd1342543de82ef95U + 1;
    const auto upper = static_cast<std::int64_t>(state_ >> 11);  // signed: a double at once, without a branch
    return static_cast<double>(upper) * 0x1p-53;
  }
  /// Where it stands: `Random{state()}` draws what this one would draw next.
  constexpr std::uint64_t state() const noexcept { return state_; }

 private:
  std::uint64_t state_;
};

/// The stream of a seeded policy: a function of seed and call id alone, so that a whole run repeats. (C8)
constexpr std::uint64_t stream_of(std::uint64_t seed, std::string_view call_id) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, 64 bit
  for (const char character : call_id) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  return mix(mix(seed) ^ hash);
}

/// A stream that no other call of this process draws, and, but for chance, none of another process: SplitMix64's outputs, from
/// the process's scope on. Thread-safe. (C8)
ENCORE_COLD inline std::uint64_t fresh_stream() noexcept {
  return mix(Scope::process().low() + next_number() * 0x9e3779b97f4a7c15U);
}

}  // namespace encore

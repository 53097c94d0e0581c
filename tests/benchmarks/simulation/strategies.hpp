// The strategies that the AWS Architecture Blog compares, 2015, by their names in tests/data/aws_backoff.csv.
#pragma once
#include "contention.hpp"
#include <encore/encore.hpp>
#include <encore/jitter_shapes.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace simulation {

/// AWS's own form of decorrelated jitter: `min(cap, U(initial, 3 * previous))`. It piles draws on the cap, so the library's
/// draws from a range that ends at the cap instead. (C2)
struct AwsDecorrelatedJitter {
  using role = encore::role::Jitter;
  constexpr encore::Duration operator()(const encore::JitterInput& input) const noexcept {
    const auto span = static_cast<double>((3 * input.previous - input.initial).count());
    return std::min(input.cap, input.initial + encore::nearest_duration(span * input.draw));
  }
};
static_assert(encore::Jitter<AwsDecorrelatedJitter>);

/// Those of the article, and `decorrelated`: the library's own form of the last of them.
inline constexpr std::array<std::string_view, 6> strategies{"none",  "expo",   "full",
                                                            "equal", "decorr", "decorrelated"};

/// Calls `use` with the backoff and the jitter of a strategy.
template <class F>
auto with_strategy(std::string_view name, const F& use) {
  using namespace std::chrono_literals;
  // The article's k-th retry, from 1, waits at most 5 ms * 2^k: the first 10 ms.
  constexpr encore::ExponentialBackoff expo{.initial_delay = 10ms, .factor = 2.0, .max_delay = 2s};
  constexpr encore::ExponentialBackoff from_5ms{.initial_delay = 5ms, .max_delay = 2s};
  if (name == "none") return use(encore::ConstantBackoff{0ms}, encore::NoJitter{});
  if (name == "expo") return use(expo, encore::NoJitter{});
  if (name == "full") return use(expo, encore::FullJitter{});
  if (name == "equal") return use(expo, encore::EqualJitter{});
  if (name == "decorr") return use(from_5ms, AwsDecorrelatedJitter{});
  if (name == "decorrelated") return use(from_5ms, encore::DecorrelatedJitter{});
  throw std::invalid_argument{"there is no strategy " + std::string{name}};
}

inline ContentionSample contend(std::string_view strategy, int clients, int trials, std::uint64_t seed) {
  return with_strategy(strategy, [&](const auto& backoff, const auto& jitter) {
    return contend(backoff, jitter, clients, trials, seed);
  });
}

}  // namespace simulation

// How long a message is under way in the simulations.
#pragma once
#include <encore/detail/random.hpp>
#include <encore/duration.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <utility>

namespace simulation {

/// One network hop after another, each |N(10 ms, sd 2 ms)|: as in the model of the AWS Architecture Blog, 2015.
class Hops {
 public:
  explicit Hops(std::uint64_t seed) noexcept : random_{seed} {}

  encore::Duration next() {
    if (other_) return *std::exchange(other_, std::nullopt);
    // Two independent normal draws of two uniform ones (Box and Muller, 1958).
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random_.draw()));
    const double angle = 2.0 * std::numbers::pi * random_.draw();
    other_ = hop(radius * std::sin(angle));
    return hop(radius * std::cos(angle));
  }

 private:
  static encore::Duration hop(double normal) {
    return encore::nearest_duration(std::abs(10e6 + 2e6 * normal));
  }
  encore::shared::Random random_;
  std::optional<encore::Duration> other_{};
};

}  // namespace simulation

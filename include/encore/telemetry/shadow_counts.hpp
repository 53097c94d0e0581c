// The effect that a candidate policy would have had, in numbers.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace encore ENCORE_BUILD {

/// How a candidate policy would have differed for one tool. Compare `recoveries_lost` with `attempts_avoided`. A regular value.
struct ShadowCounts {
  std::string tool{};
  std::uint64_t calls = 0;             ///< that ended
  std::uint64_t stopped_sooner = 0;    ///< calls that the candidate would have stopped earlier
  std::uint64_t attempts_avoided = 0;  ///< further attempts of these calls
  Duration waits_avoided{};            ///< further waits of these calls
  std::uint64_t recoveries_lost = 0;   ///< how many of these calls succeeded
  std::uint64_t gone_on = 0;  ///< calls that the candidate would have retried when the policy stopped
  std::array<std::uint64_t, stop_reason_count> sooner_because{};  ///< why it would have stopped

  friend bool operator==(const ShadowCounts&, const ShadowCounts&) = default;
};

}  // namespace encore ENCORE_BUILD

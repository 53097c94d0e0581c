// What another policy would have changed, in numbers.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace encore ENCORE_BUILD {

/// Of one tool: what the candidate would have done where it and the policy differ. Decide by `recoveries_lost` against
/// `attempts_avoided`. A regular value.
struct ShadowCounts {
  std::string tool{};
  std::uint64_t calls = 0;             ///< that ended
  std::uint64_t stopped_sooner = 0;    ///< calls that the candidate would have stopped before they ended
  std::uint64_t attempts_avoided = 0;  ///< that these went on to make
  Duration waits_avoided{};            ///< that these went on to sleep
  std::uint64_t recoveries_lost = 0;   ///< how many of these succeeded in the end
  std::uint64_t gone_on =
      0;  ///< calls that the candidate would have retried once more when the policy stopped
  std::array<std::uint64_t, stop_reason_count> sooner_because{};  ///< why it would have stopped

  friend bool operator==(const ShadowCounts&, const ShadowCounts&) = default;
};

}  // namespace encore ENCORE_BUILD

// What to do after an attempt.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

namespace encore ENCORE_BUILD {

/// The next step: another attempt after a wait, or a stop and its reason. A regular value.
struct Decision {
  StopReason stop = StopReason::none;
  Duration wait{};

  /// Another attempt follows, after `wait`.
  [[nodiscard]] constexpr bool goes_on() const noexcept { return stop == StopReason::none; }
  friend constexpr bool operator==(const Decision&, const Decision&) noexcept = default;
};

}  // namespace encore ENCORE_BUILD

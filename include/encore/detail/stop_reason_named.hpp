// The stop reason that a name in a log or in saved state stands for.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/stop_reason.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD {

/// The reason of this name, as `to_string` gives it; empty if there is none. Pure.
constexpr std::optional<StopReason> stop_reason_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < stop_reason_count; ++i)
    if (const auto reason = static_cast<StopReason>(i); to_string(reason) == name) return reason;
  return std::nullopt;
}

}  // namespace encore ENCORE_BUILD

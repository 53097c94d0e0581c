// Enumerators by name, for logs and saved state.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/stop_reason.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD::detail {

/// The enumerator whose `to_string` is `name`, from the first to `last`; empty if there is none. Pure.
template <class Enumeration>
constexpr std::optional<Enumeration> named(std::string_view name, Enumeration last) noexcept {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
    if (const auto member = static_cast<Enumeration>(i); to_string(member) == name) return member;
  return std::nullopt;
}
constexpr std::optional<StopReason> stop_reason_named(std::string_view name) noexcept {
  return named(name, static_cast<StopReason>(stop_reason_count - 1));
}

}  // namespace ENCORE_BUILD::detail

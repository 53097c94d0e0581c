// Declares which tools may be repeated: only those that do no harm when they run twice.
#pragma once
#include <encore/call.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore::role {
struct Replay {};  ///< of a tool layer: declares which tools may be repeated
}  // namespace encore::role

namespace encore ENCORE_BUILD {

/// Tool names: exact and case-sensitive, sorted, without duplicates.
using ToolNames = std::set<std::string, std::less<>>;

/// The call that a declaration is asked about. A view.
struct DeclaredCall {
  std::string_view name{};  ///< the resolved name, or the model's if it was not resolved
  std::string_view arguments{};
};

namespace detail {

template <ReplaySafety Safety>
class NamedTools {
 public:
  using role = encore::role::Replay;
  NamedTools() = default;
  template <std::convertible_to<std::string_view>... Name>
    requires(sizeof...(Name) > 0)
  explicit NamedTools(const Name&... names) {
    (names_.emplace(std::string_view{names}), ...);
  }
  explicit NamedTools(ToolNames names) : names_{std::move(names)} {}

  const ToolNames& names() const noexcept { return names_; }
  std::optional<ReplaySafety> operator()(const DeclaredCall& call) const {
    if (names_.contains(call.name)) return Safety;
    return std::nullopt;
  }
  friend bool operator==(const NamedTools&, const NamedTools&) = default;

 private:
  ToolNames names_;
};

}  // namespace detail

/// Declares tools that may run twice, such as lookups. Every tool that is not declared runs once; an attempt that was marked as
/// not run may be tried again, since it has done nothing. (I1)
///   Repeatable{"inventory_lookup", "weather"}     Repeatable{}: no tool
class Repeatable : public detail::NamedTools<ReplaySafety::repeatable> {
 public:
  using NamedTools::NamedTools;
};

/// Declares tools that may run twice if each attempt sends the call's idempotency key and the other side honours it. (I1, I2)
class RepeatableWithKey : public detail::NamedTools<ReplaySafety::repeatable_with_key> {
 public:
  using NamedTools::NamedTools;
};

/// Declares with a function of the tool's name, or of the `const DeclaredCall&`. It returns whether the call is repeatable, or
/// its `ReplaySafety`. What it throws propagates before anything has run.
///   RepeatableIf{[](std::string_view name) { return name.starts_with("get_"); }}
template <class F>
class RepeatableIf {
 public:
  using role = encore::role::Replay;
  constexpr explicit RepeatableIf(F f) : declares_(std::move(f)) {}

  std::optional<ReplaySafety> operator()(const DeclaredCall& call) const {
    if constexpr (std::invocable<const F&, const DeclaredCall&>)
      return safety(declares_(call));
    else
      return safety(declares_(call.name));
  }

 private:
  static std::optional<ReplaySafety> safety(ReplaySafety declared) noexcept { return declared; }
  static std::optional<ReplaySafety> safety(bool repeatable) noexcept {
    if (repeatable) return ReplaySafety::repeatable;
    return std::nullopt;
  }
  F declares_;
};

}  // namespace encore ENCORE_BUILD

#pragma once
#include <encore/detail/attributes.hpp>

#include <compare>

#define ENCORE_VERSION_MAJOR 0
#define ENCORE_VERSION_MINOR 1
#define ENCORE_VERSION_PATCH 0

namespace encore ENCORE_BUILD {

/// A semantic version, ordered by precedence. The fields avoid the names `major` and `minor`, which glibc has as macros.
struct Version {
  int major_number = 0;
  int minor_number = 0;
  int patch_number = 0;

  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};

/// The version of these headers. Before 1.0, a minor version may change the interface; a patch version never does.
inline constexpr Version version{ENCORE_VERSION_MAJOR, ENCORE_VERSION_MINOR, ENCORE_VERSION_PATCH};

}  // namespace encore ENCORE_BUILD

#include "span_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace {

/// Two units, the smaller one left out where it is 0.
std::string in_units(double count, int per_large, const char* large, const char* small) {
  const auto whole = std::llround(count);
  const auto rest = whole % per_large;
  if (rest == 0) return fmt::format("{} {}", whole / per_large, large);
  return fmt::format("{} {} {} {}", whole / per_large, large, rest, small);
}

}  // namespace

std::string span_text(double seconds) {
  if (seconds <= 0) return "0 s";
  if (seconds < 999.5e-9) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 999.5e-6) return fmt::format("{:.3g} \u00B5s", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.3g} s", seconds);
  if (seconds < 3599.5) return in_units(seconds, 60, "min", "s");
  if (seconds < 86'370) return in_units(seconds / 60, 60, "h", "min");
  return in_units(seconds / 3600, 24, "d", "h");
}

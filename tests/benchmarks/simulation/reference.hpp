// The simulation of contention beside its reference.
#pragma once
#include "../../csv.hpp"
#include "strategies.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace simulation {

/// One quantity of a row of aws_backoff.csv, as it is there and as it was simulated.
struct Compared {
  double reference;
  double simulated;
  double standard_error;  ///< of the difference of the two

  double off_by() const noexcept { return std::abs(simulated - reference); }
  /// As many standard errors as they may differ, or a share of the reference, where that is more.
  bool agrees(double standard_errors, double share = 0.0) const noexcept {
    return off_by() <= std::max(standard_errors * standard_error, share * reference) + 1e-9;
  }
};

struct ComparedRow {
  Compared calls;
  Compared time;  ///< in ms
};

// A few trials that happen to agree would seem to be exact, so their standard error comes from the reference's deviation.
inline Compared compare(const encore_tests::Row& row, const std::string& column, const Sample& simulated) {
  return {row.number(column), simulated.mean(),
          std::hypot(row.number(column + "_sem"), row.number(column + "_sd") / std::sqrt(simulated.count()))};
}

inline ComparedRow compare(const encore_tests::Row& row, int trials, std::uint64_t seed) {
  const auto simulated = contend(row.text("strategy"), row.whole("clients"), trials, seed);
  return {compare(row, "calls", simulated.writes), compare(row, "time", simulated.milliseconds)};
}

}  // namespace simulation

// As much of a test framework as is left where Catch2 cannot be linked.
#pragma once
#include <cstdio>
#include <source_location>

/// How many checks did not hold: the program's exit status, so keep them under 256.
inline int failed_checks = 0;

inline void check(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  ++failed_checks;
  std::fprintf(stderr, "%s:%u: this check does not hold\n", where.file_name(),
               static_cast<unsigned>(where.line()));
}

// Measures what each of several paths costs: under `valgrind --tool=callgrind` the instructions, always what it allocates.
#pragma once
#include <valgrind/callgrind.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace benchmarks {

/// What happened so far in this process that costs more than instructions show. Counted by counts.cpp.
struct Counts {
  long allocations = 0;
  long rethrows = 0;
};
Counts counts() noexcept;

/// Results go here, so that no call is left out.
inline volatile std::int64_t sink = 0;

/// Calls `once` that many times, with 0, 1, 2 ...
template <class F>
[[gnu::noinline]] void repeat(F once, int times) {
  std::int64_t sum = 0;
  for (int i = 0; i < times; ++i) sum += once(i);
  sink = sum;
}

/// Runs one series twice, with different numbers of calls, so that by their difference whatever happens once drops out.
/// Prints `count,<gate>,<path>,<who>,<calls of the difference>,<allocations of it>,<rethrows of it>`; callgrind dumps each of
/// the two under that name. No part of the name has a comma.
template <class F>
[[gnu::noinline]] void measure(const std::string& gate, const std::string& path, const std::string& who,
                               F once, int many = 400) {
  const int few = many / 4;
  const auto name = gate + ',' + path + ',' + who;
  const auto few_name = "few " + name, many_name = "many " + name;
  repeat(once, few);  // what a first use sets up is no part of it
  const auto before = counts();
  CALLGRIND_ZERO_STATS;
  repeat(once, few);
  CALLGRIND_DUMP_STATS_AT(few_name.c_str());
  const auto between = counts();
  CALLGRIND_ZERO_STATS;
  repeat(once, many);
  CALLGRIND_DUMP_STATS_AT(many_name.c_str());
  const auto after = counts();
  std::printf("count,%s,%d,%ld,%ld\n", name.c_str(), many - few,
              (after.allocations - between.allocations) - (between.allocations - before.allocations),
              (after.rethrows - between.rethrows) - (between.rethrows - before.rethrows));
}

}  // namespace benchmarks

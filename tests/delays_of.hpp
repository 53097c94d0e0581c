// The delays of a backoff, read in both ways that there are.
#pragma once
#include <encore/backoff.hpp>
#include <encore/duration.hpp>

#include <vector>

namespace encore_tests {

using Durations = std::vector<encore::Duration>;

/// Those before the first `count` retries, each asked for by its number.
template <class B>
Durations first_delays(const B& backoff, int count) {
  Durations delays;
  for (int retry = 0; retry < count; ++retry) delays.push_back(backoff(retry));
  return delays;
}
/// Those before `count` retries from one on, one after the other.
template <class B>
Durations running_delays(const B& backoff, int count, int from = 0) {
  Durations delays;
  encore::DelayGenerator progression{backoff, from};
  for (int i = 0; i < count; ++i) delays.push_back(progression.next(backoff));
  return delays;
}

}  // namespace encore_tests

// The schedules to look at: of one policy, or of all the shapes that the library has.
#pragma once
#include <encore/backoff_shapes.hpp>
#include <encore/encore.hpp>
#include <encore/retry_settings.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

/// Waits before each retry, foreseen by the library.
struct Preview {
  std::string name;
  std::vector<encore::WaitRange> waits{};
  encore::WaitRange total{};
};

template <class Backoff, class Jitter>
Preview preview_of(std::string name, const encore::Schedule<Backoff, Jitter>& schedule) {
  Preview preview{.name = std::move(name), .total = schedule.total()};
  for (const auto& wait : schedule) preview.waits.push_back(wait);
  return preview;
}

inline Preview preview_of(std::string name, const encore::RetrySettings& settings) {
  return preview_of(std::move(name),
                    encore::Schedule{settings.part<encore::role::Backoff>(),
                                     settings.part<encore::role::Jitter>(), int{*settings.max_retries}});
}

/// Every backoff without jitter, then every jitter on the exponential one.
inline std::vector<Preview> previews_of_all_shapes() {
  using namespace encore;
  using namespace std::chrono_literals;
  constexpr int retries = 8;
  const auto backoff = [](const char* name, const auto& shape) {
    return preview_of(name, Schedule{shape, NoJitter{}, retries});
  };
  const auto jitter = [](const char* name, const auto& kind) {
    return preview_of(name, Schedule{ExponentialBackoff{}, kind, retries});
  };
  return {backoff("constant", ConstantBackoff{}),
          backoff("linear", LinearBackoff{}),
          backoff("exponential", ExponentialBackoff{}),
          backoff("Fibonacci", FibonacciBackoff{}),
          backoff("listed: 0.1, 1, 5 s", ListedBackoff{100ms, 1s, 5s}),
          backoff("chained: 3 of 0.1 s, then exponential",
                  ChainedBackoff{3, ConstantBackoff{100ms}, ExponentialBackoff{}}),
          jitter("exponential, full jitter", FullJitter{}),
          jitter("exponential, equal jitter", EqualJitter{}),
          jitter("exponential, proportional jitter of 25 %", ProportionalJitter{}),
          jitter("exponential, decorrelated jitter", DecorrelatedJitter{})};
}

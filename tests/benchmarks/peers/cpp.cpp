// encore, and a policy made of std::function, against a loop: success at the first attempt, and one delay with jitter.
// Prints library,path,by hand,library in ns.
#include "../service.hpp"
#include <encore/encore.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <vector>

using namespace std::chrono_literals;
using namespace benchmarks;

// What one writes who wants a policy that holds anything: every part is a std::function.
class FunctionPolicy {
 public:
  std::function<bool(const std::exception&)> retryable;
  std::function<std::chrono::nanoseconds(int)> delay;
  int max_retries = 2;

  int run(const std::function<int()>& call) const {
    for (int retries = 0;; ++retries) {
      try {
        return call();
      } catch (const std::exception& error) {
        if (retries == max_retries || !retryable(error)) throw;
      }
      pass_time(delay(retries));
    }
  }
};

[[gnu::noinline]] static int call_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return answer(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}

[[gnu::noinline]] static int call_with_encore(int x, const auto& policy) {
  return policy.run([&] { return answer(x); });
}
[[gnu::noinline]] static int call_with_functions(int x, const FunctionPolicy& policy) {
  return policy.run([&] { return answer(x); });
}
[[gnu::noinline]] static int call_with_captures(int x, const FunctionPolicy& policy) {
  const long a = x, b = x, c = x, d = x;
  return policy.run([=] { return answer(static_cast<int>((a + b + c + d + x) & 0xffff)); });
}

static std::minstd_rand generator{17};
static std::chrono::nanoseconds delay_by_hand(int retry) {
  const double delay = std::min(60e9, 1e9 * std::exp2(retry));
  return std::chrono::nanoseconds{
      static_cast<std::int64_t>(delay * std::uniform_real_distribution{0.75, 1.25}(generator))};
}

static volatile std::int64_t sink = 0;
template <class F>
[[gnu::noinline]] static double nanoseconds(F call) {
  constexpr int times = 200'000;
  std::int64_t sum = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) sum += call(i);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
  sink = sum;
  return took.count() / times;
}
static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
template <class Hand, class Call>
static void compare(const char* library, const char* path, Hand hand, Call call) {
  std::vector<double> hands, calls;
  for (int round = 0; round < 31; ++round) {
    hands.push_back(nanoseconds(hand));
    calls.push_back(nanoseconds(call));
  }
  std::printf("%s,%s,%.2f,%.2f\n", library, path, median(hands), median(calls));
}

int main() {
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::MaxRetries{max_retries}};
  const FunctionPolicy functions{
      [](const std::exception& error) { return dynamic_cast<const TimeoutError*>(&error) != nullptr; },
      delay_by_hand, max_retries};
  compare("encore", "success", call_by_hand, [&](int x) { return call_with_encore(x, policy); });
  compare("a std::function policy", "success", call_by_hand,
          [&](int x) { return call_with_functions(x, functions); });
  compare("a std::function policy", "success with 40 bytes", call_by_hand,
          [&](int x) { return call_with_captures(x, functions); });

  const auto& backoff = policy.backoff();
  const auto& jitter = policy.jitter();
  encore::shared::Random random{17};
  encore::WaitGenerator<encore::ExponentialBackoff, encore::ProportionalJitter> waits{backoff};
  const std::function<std::chrono::nanoseconds(int)> delay = delay_by_hand;
  compare(
      "encore", "one delay", [](int i) { return delay_by_hand(i % 12).count(); },
      [&](int) { return waits.next(backoff, jitter, random.draw()).count(); });
  compare(
      "a std::function policy", "one delay", [](int i) { return delay_by_hand(i % 12).count(); },
      [&](int i) { return delay(i % 12).count(); });
}

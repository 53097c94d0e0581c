// What quickstart.cpp does, without encore: the loop that people write by hand.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

int look_up() {
  static int requests = 0;
  if (++requests < 3) throw TimeoutError{"no answer"};
  return 17;
}

int look_up_with_retries() {
  static thread_local std::mt19937 random{std::random_device{}()};
  std::uniform_real_distribution<double> jitter{0.75, 1.25};
  const auto deadline = Clock::now() + 5s;
  Seconds delay = 20ms;
  for (int attempt = 1;; ++attempt) {
    Seconds wait{};
    fmt::print("call-17 attempt {} started\n", attempt);
    try {
      const int units = look_up();
      fmt::print("call-17 attempt {} succeeded\n", attempt);
      return units;
    } catch (const TimeoutError&) {
      wait = jitter(random) * std::min<Seconds>(delay, 2s / 1.25);
      const bool again = attempt < 3 && Clock::now() + wait < deadline;
      fmt::print("call-17 attempt {} failed: TimeoutError{}\n", attempt, again ? ", trying again" : "");
      if (!again) throw;
    }
    std::this_thread::sleep_for(wait);  // outside the handler, so that the exception is gone by now
    delay *= 2.0;
  }
}

int main() { fmt::print("{} units\n", look_up_with_retries()); }

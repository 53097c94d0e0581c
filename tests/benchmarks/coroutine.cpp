// A coroutine that succeeds at once, retried by hand and by co_run. [P13]
//   coroutine <mode> <calls>    modes: hand, encore; hand_attempt, encore_attempt
// Makes that many calls one after another and prints a sum over their results, the same in every mode. The difference between
// two runs, divided by that of their calls, is the cost of one call.
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/task.hpp>

#include <charconv>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using encore::testing::Task;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Stands for a timer of an event loop: it does not wait, because nobody calls it here.
struct Sleeper {
  std::suspend_never operator()(encore::Duration) const noexcept { return {}; }
};

[[gnu::noinline]] Task<long> look_up(long item) {
  if (item < 0) throw TimeoutError{"no answer"};
  co_return item + 1;
}

[[gnu::noinline]] Task<long> look_up_by_hand(long item, int max_retries, Sleeper sleep_for) {
  auto delay = encore::Duration{1s};
  for (auto retries = 0;; ++retries) {
    try {
      co_return co_await look_up(item);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
    co_await sleep_for(delay);
    delay *= 2;
  }
}

// With what an operation may ask of its attempt: the call's id and the ordinal.
[[gnu::noinline]] Task<long> look_up_as(std::string_view id, int ordinal, long item) {
  return look_up(item + static_cast<long>(id.size()) + ordinal - 8);
}

[[gnu::noinline]] Task<long> look_up_as_by_hand(std::string id, long item, int max_retries,
                                                Sleeper sleep_for) {
  auto delay = encore::Duration{1s};
  for (auto retries = 0;; ++retries) {
    try {
      co_return co_await look_up_as(id, retries + 1, item);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
    co_await sleep_for(delay);
    delay *= 2;
  }
}

const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::MaxRetries{2}, encore::NoJitter{}};

template <class Start>
long sum_of(long calls, Start&& start) {
  long sum = 0;
  for (long call = 0; call < calls; ++call) {
    auto task = start(call);
    task.start();
    sum += task.result();
  }
  return sum;
}

int run(std::string_view mode, long calls) {
  long sum = 0;
  if (mode == "hand")
    sum = sum_of(calls, [](long item) { return look_up_by_hand(item, 2, Sleeper{}); });
  else if (mode == "encore")
    sum = sum_of(calls, [](long item) {
      return encore::co_run(policy, {.id = "call-17"}, [item] { return look_up(item); }, Sleeper{});
    });
  else if (mode == "hand_attempt")
    sum = sum_of(calls, [](long item) { return look_up_as_by_hand("call-17", item, 2, Sleeper{}); });
  else if (mode == "encore_attempt")
    sum = sum_of(calls, [](long item) {
      return encore::co_run(
          policy, {.id = "call-17"},
          [item](const encore::Attempt& attempt) {
            return look_up_as(attempt.call_id(), attempt.ordinal, item);
          },
          Sleeper{});
    });
  else
    return EXIT_FAILURE;
  std::printf("%ld\n", sum);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
  long calls = 0;
  if (count == 3) {
    const std::string_view number{arguments[2]};
    std::from_chars(number.data(), number.data() + number.size(), calls);
  }
  if (calls > 0 && run(arguments[1], calls) == EXIT_SUCCESS) return EXIT_SUCCESS;
  std::fputs("usage: coroutine hand|encore|hand_attempt|encore_attempt <calls>\n", stderr);
  return EXIT_FAILURE;
}

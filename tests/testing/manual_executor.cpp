#include <encore/stop_token.hpp>
#include <encore/testing/manual_executor.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <coroutine>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

using namespace encore::testing;
using namespace std::chrono_literals;

namespace {

struct Sleepers {
  FakeClock clock;
  ManualExecutor executor{clock};
  std::string log;

  Task<void> sleep(char name, encore::Duration duration, encore::StopView stop = {}) {
    co_await executor.sleeper()(duration, stop);
    log += name;
  }
};

}  // namespace

TEST_CASE_METHOD(
    Sleepers, "a manual executor's sleeps end in the order of their times, and then of their beginnings [D1]",
    "[manual_executor]") {
  std::vector<Task<void>> tasks;
  tasks.push_back(sleep('c', 3s));
  tasks.push_back(sleep('a', 1s));
  tasks.push_back(sleep('b', 1s));
  for (auto& task : tasks) task.start();
  CHECK(executor.sleeping() == 3);
  executor.run_for(2s);
  CHECK(log == "ab");
  CHECK(clock.now() == encore::TimePoint{2s});
  executor.run();
  CHECK(log == "abc");
  CHECK(clock.now() == encore::TimePoint{3s});
  CHECK(clock.sleeps() == Durations{1s, 1s, 3s});
}

TEST_CASE_METHOD(
    Sleepers,
    "a stop request ends a manual executor's sleep in the next turn, at the time of the request [K1]",
    "[manual_executor]") {
  std::stop_source source;
  const auto token = source.get_token();
  auto stopped = sleep('s', 1h, token);
  auto other = sleep('o', 2s);
  stopped.start();
  other.start();
  clock.after(500ms, [&] { source.request_stop(); });
  executor.run();
  CHECK(log == "so");
  CHECK(clock.sleeps() == Durations{500ms, 2s});
  CHECK(clock.now() == encore::TimePoint{2s});
}

TEST_CASE_METHOD(Sleepers, "a manual executor forgets a sleeper that is destroyed, also after it was woken",
                 "[manual_executor]") {
  std::stop_source source;
  const auto token = source.get_token();
  {
    auto task = sleep('x', 1s, token);
    task.start();
    CHECK(executor.sleeping() == 1);
  }
  CHECK(executor.sleeping() == 0);
  {
    auto task = sleep('x', 1s, token);
    task.start();
    source.request_stop();
    CHECK(executor.sleeping() == 0);
  }
  executor.run();
  CHECK(log.empty());
}

TEST_CASE_METHOD(
    Sleepers,
    "a manual executor reports a task that waits for anything but time as an error, not an endless wait",
    "[manual_executor]") {
  auto stuck = []() -> Task<int> {
    co_await std::suspend_always{};
    co_return 1;
  };
  CHECK_THROWS_AS(executor.run(stuck()), std::logic_error);
}

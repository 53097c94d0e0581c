// Coroutines inside coroutines: the mark of a layer travels with the attempt that is handed over, and in no other way. (J2)
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Layers {
  FakeClock clock{};
  ManualExecutor executor{clock};
  Recorder trace{};
  int requests = 0;
  RetryPolicy<FakeClock&, RetryOn<Slow>, Options<NoJitter, WhenNested>> outer{
      RetryOn<Slow>{}, MaxRetries{3}, NoJitter{}, WhenNested{}, clock};

  // Four attempts of the outer layer, each of which calls the inner one, which tries three times if nobody holds it back.
  template <class Inner>
  void run(const Inner& inner, bool hands_over) {
    const auto request = [this]() -> Task<int> {
      ++requests;
      throw Slow{"slow"};
      co_return 0;
    };
    CHECK_THROWS_AS(executor.run(co_run(
                        outer, {.id = "outer"},
                        [&](const Attempt& attempt) -> Task<int> {
                          const Call call{.id = "inner", .outer = hands_over ? &attempt : nullptr};
                          co_return co_await co_run(inner, call, request, executor.sleeper());
                        },
                        executor.sleeper())),
                    Slow);
  }
  std::set<std::string> outer_ids() const {
    std::set<std::string> ids;
    for (const auto& event : trace.events())
      if (event.kind == EventKind::attempt_failed) ids.insert(event.outer_id);
    return ids;
  }
  auto inner(Nested choice) {
    return RetryPolicy{RetryOn<Slow>{}, MaxRetries{2}, NoJitter{}, WhenNested{choice}, clock, trace};
  }
};

TEST_CASE("a coroutine that gets the outer attempt is detected as nested, and can be made single [J1, J2]",
          "[co_run]") {
  Layers reports;
  reports.run(reports.inner(Nested::report), true);
  CHECK(reports.requests == 4 * 3);
  CHECK(reports.outer_ids() == std::set<std::string>{"outer"});

  Layers single;
  single.run(single.inner(Nested::make_single), true);
  CHECK(single.requests == 4);
  CHECK(single.outer_ids() == std::set<std::string>{"outer"});
}

TEST_CASE(
    "a coroutine that does not get the outer attempt is not detected: the thread's mark could be another "
    "call's [J2]",
    "[co_run]") {
  Layers layers;
  layers.run(layers.inner(Nested::make_single), false);
  CHECK(layers.requests == 4 * 3);
  CHECK(layers.outer_ids() == std::set<std::string>{""});
}

TEST_CASE("a call on the same thread is not nested in an attempt that is suspended [J2]", "[co_run]") {
  Layers layers;
  const auto other = layers.inner(Nested::make_single);
  int others = 0;
  layers.clock.after(500ms, [&] {  // while the attempt below waits
    CHECK_THROWS_AS(other.run({.id = "other"},
                              [&] {
                                ++others;
                                throw Slow{"slow"};
                              }),
                    Slow);
  });
  auto sleeper = layers.executor.sleeper();
  CHECK(layers.executor.run(co_run(
            layers.outer, {.id = "outer"},
            [&](const Attempt&) -> Task<int> {
              co_await sleeper(encore::Duration{1s}, StopView{});
              co_return 1;
            },
            layers.executor.sleeper())) == 1);
  CHECK(others == 3);
  CHECK(layers.outer_ids() == std::set<std::string>{""});
}

}  // namespace

#include "../invalid_setting.hpp"
#include "../telemetry/flat_json.hpp"
#include <encore/agent/step_limit.hpp>
#include <encore/refused.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <concepts>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::CallLimitExceeded;
using encore::ModelCallCounter;
using encore::ModelCallLimit;
using encore::OnLimit;
using encore::RunCounts;
using encore::StepCounter;
using encore::StepLimit;
using encore::StopReason;
using encore_tests::refusal_of;

static_assert(StepLimit{.run_limit = 1}.on_limit == OnLimit::end_run);
static_assert(ModelCallLimit{.run_limit = 1}.on_limit == OnLimit::end_run);

TEST_CASE("a step limit admits as many steps as it says, and the next one ends the run", "[step_limit]") {
  StepCounter steps{StepLimit{.run_limit = 3}};
  for (int step = 1; step <= 3; ++step) CHECK_FALSE(steps.admit());
  const auto refusal = steps.admit();
  REQUIRE(refusal);
  CHECK(refusal->reason == StopReason::step_limit_reached);
  CHECK(refusal->to_model == "The call was not made: the step limit is reached. Do not call any tool again.");
  CHECK(refusal->to_person == "step limit reached: run 4/3");
  CHECK(refusal->ends_run);
}

TEST_CASE("a step refused by the step limit is not counted, and is refused again", "[step_limit]") {
  StepCounter steps{StepLimit{.thread_limit = 2, .run_limit = 1}};
  CHECK_FALSE(steps.admit());
  const auto first = steps.admit();
  CHECK(first);
  CHECK(first == steps.admit());
  CHECK(steps.counts() == RunCounts{1, 1});
}

TEST_CASE("a step limit is reached when count ≥ limit, before the call: a limit of zero at once",
          "[step_limit]") {
  StepCounter none{StepLimit{.run_limit = 0}};
  CHECK(none.admit()->to_person == "step limit reached: run 1/0");
}

TEST_CASE("the run's step count restarts with each run, the thread's goes on [H5]", "[step_limit]") {
  ModelCallCounter model_calls{ModelCallLimit{.thread_limit = 3, .run_limit = 2}};
  CHECK_FALSE(model_calls.admit());
  CHECK_FALSE(model_calls.admit());
  CHECK(model_calls.admit()->to_person == "step limit reached: run 3/2");
  model_calls.new_run();
  CHECK_FALSE(model_calls.admit());
  CHECK(model_calls.admit()->to_person == "step limit reached: thread 4/3");
  CHECK(model_calls.counts() == RunCounts{3, 1});
}

TEST_CASE("a step over the limit throws if that is configured [H5]", "[step_limit]") {
  StepCounter steps{StepLimit{.run_limit = 1, .on_limit = OnLimit::throw_exception}};
  CHECK_FALSE(steps.admit());
  try {
    static_cast<void>(steps.admit());
    FAIL("admitted");
  } catch (const CallLimitExceeded& exceeded) {
    CHECK(std::string{exceeded.what()} == "encore: step limit reached: run 2/1");
    CHECK(exceeded.run_count() == 2);
    CHECK(exceeded.run_limit() == 1);
  }
  CHECK(steps.counts() == RunCounts{1, 1});
}

TEST_CASE("an invalid step limit is rejected by name [C3]", "[step_limit]") {
  CHECK(refusal_of([] { return StepLimit{}; }) ==
        "encore: thread_limit and run_limit = none is invalid: at least one of them must be set");
  CHECK(refusal_of([] { return StepLimit{.thread_limit = 1, .run_limit = 2}; }) ==
        "encore: run_limit = 2 is invalid: it must not exceed thread_limit = 1");
  CHECK(refusal_of([] {
          StepCounter steps{StepLimit{.run_limit = 1, .on_limit = OnLimit::answer_calls}};
          return 0;
        }) == "encore: on_limit = 0 is invalid: it must be end_run or throw_exception");
  CHECK(refusal_of([] {
          StepLimit limit{.run_limit = 1};
          limit.run_limit.reset();
          StepCounter steps{limit};
          return 0;
        }) == "encore: thread_limit and run_limit = none is invalid: at least one of them must be set");
}

TEST_CASE("in a model client's policy a call of the model is one step, however many attempts it takes",
          "[step_limit]") {
  encore::testing::FakeClock clock;
  ModelCallCounter model_calls{ModelCallLimit{.run_limit = 2, .on_limit = OnLimit::throw_exception}};
  const encore::RetryPolicy policy{encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{2}, clock,
                                   model_calls};
  int attempts = 0;
  const auto ask = [&] {
    try {
      policy.run([&] {
        if (++attempts % 3 != 0) throw std::runtime_error{"down"};
      });
    } catch (const encore::Refused& refused) {
      return refused.reason();
    }
    return StopReason::succeeded;
  };
  CHECK(ask() == StopReason::succeeded);
  CHECK(ask() == StopReason::succeeded);
  CHECK(attempts == 6);
  CHECK(model_calls.counts() == RunCounts{2, 2});
  CHECK(ask() == StopReason::step_limit_reached);
  CHECK(attempts == 6);
}

TEST_CASE("a step limit's counts are saved as one JSON line and restored, and other text changes nothing",
          "[step_limit]") {
  StepCounter steps{StepLimit{.thread_limit = 9, .run_limit = 3}};
  static_cast<void>(steps.admit());
  steps.new_run();
  static_cast<void>(steps.admit());
  CHECK(steps.save() == "{\"state\":\"step_limit\",\"thread\":2,\"run\":1}\n");

  StepCounter resumed{StepLimit{.thread_limit = 9, .run_limit = 1}};
  resumed.restore(steps.save());
  CHECK(resumed.counts() == RunCounts{2, 1});
  CHECK(resumed.admit());

  CHECK(refusal_of([&] {
          return resumed.restore("{\"state\":\"step_limit\",\"thread\":\"2\",\"run\":1}"), 0;
        }) == "encore: thread = \"2\" is invalid: it must be a whole number from 0 to 9007199254740991");
  CHECK(refusal_of([&] { return resumed.restore(""), 0; }) ==
        "encore: number of step_limit lines = 0 is invalid: it must be 1");
  CHECK(resumed.counts() == RunCounts{2, 1});
}

TEST_CASE("many threads together take exactly as many steps as the step limit allows [H8]",
          "[step_limit][threads]") {
  StepCounter steps{StepLimit{.run_limit = 500}};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) taken += steps.admit() ? 0 : 1;
    });
  for (auto& thread : threads) thread.join();
  CHECK(taken == 500);
  CHECK(steps.counts() == RunCounts{500, 500});
}

}  // namespace

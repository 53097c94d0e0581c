// A run that is saved and goes on in another process, at any moment, answers as one that never stopped.
#include <encore/agent/call_limit.hpp>
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/detail/random.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace encore;
using encore::testing::FakeClock;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Tools that answer for the call alone, so that two runs can be compared.
ToolCatalog tools(FakeClock& clock) {
  const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxRetries{1}, NoJitter{}, clock};
  ToolCatalog catalog;
  catalog.add("search", ReplaySafety::repeatable, policy,
              [](const std::string& arguments) { return "found " + arguments; });
  catalog.add("slow", ReplaySafety::repeatable, policy,
              [](const std::string&) -> std::string { throw TimeoutError{"slow"}; });
  catalog.add("ship", ReplaySafety::repeatable_with_key, policy,
              [](const ToolCall& call, const Attempt& attempt) {
                const auto key = attempt.idempotency_key();
                attempt.mark_dispatched();
                if (call.arguments == "0") throw TimeoutError{"lost"};
                attempt.mark_answered();
                return key;
              });
  return catalog;
}

using Run = ToolRun<CallLimit, CallLimit, LoopDetector, SpendLimit, StepLimit>;

/// Plays the same turns to a run that is resumed now and then, and to one that is not.
class Comparison {
 public:
  explicit Comparison(std::uint64_t seed) : random_{seed}, catalog_{tools(clock_)} {
    make(through_);
    make(resumed_);
    resumed_->restore(through_->save());  // one scope, so that keys can be compared
  }

  void turn() {
    const auto says_so = random_.draw() < 0.5;
    maybe_resume();
    if (says_so) {
      CHECK(told(through_->begin_step()) == told(resumed_->begin_step()));
      maybe_resume();
      const auto cost = usd(random_.draw() / 10);
      through_->record(cost), resumed_->record(cost);
    }
    maybe_resume();
    const auto calls = next_calls();
    const std::vector<ToolResult> expected = through_->handle_batch(calls);
    const std::vector<ToolResult> answered = resumed_->handle_batch(calls);
    CHECK(answered == expected);
    CHECK(told(resumed_->over()) == told(through_->over()));
    CHECK(resumed_->save() == through_->save());
    for (const auto& answer : expected) ++(answer.is_error() ? errors_ : successes_);
    if (through_->over() && random_.draw() < 0.5) {
      through_->new_run();
      make(resumed_);
      resumed_->restore(through_->save());
    }
  }
  int errors() const { return errors_; }
  int successes() const { return successes_; }

 private:
  static std::string told(const std::optional<Refusal>& refusal) {
    return refusal ? refusal->to_person : "goes on";
  }
  void make(std::optional<Run>& run) {
    run.emplace(catalog_, CallLimit{.thread_limit = 60, .run_limit = 25, .on_limit = OnLimit::end_run},
                CallLimit{.tool = "ship", .run_limit = 6},
                LoopDetector{.repeats = 2, .max_cycle_len = 3, .with_results = true}, SpendLimit{usd(1)},
                StepLimit{.run_limit = 15});
  }
  void maybe_resume() {
    if (random_.draw() < 0.7) return;
    const auto saved = resumed_->save();
    make(resumed_);
    resumed_->restore(saved);
  }
  std::vector<ToolCall> next_calls() {
    constexpr std::array names{"search", "slow", "ship", "nobody"};
    std::vector<ToolCall> calls;
    for (auto count = below(4); count > 0; --count)
      calls.push_back({.id = "call_" + std::to_string(below(3)),
                       .name = names[static_cast<std::size_t>(below(4))],
                       .arguments = std::to_string(below(3))});
    // A call whose outcome is unknown is open after a restart, and only there: no other one here has its id.
    for (auto& call : calls)
      if (call.name == "ship" && call.arguments == "0") call.id = "lost_" + std::to_string(++lost_);
    return calls;
  }
  int below(int end) { return static_cast<int>(random_.draw() * end); }

  encore::shared::Random random_;
  FakeClock clock_{};
  ToolCatalog catalog_;
  std::optional<Run> through_{};
  std::optional<Run> resumed_{};
  int lost_ = 0;
  int errors_ = 0;
  int successes_ = 0;
};

TEST_CASE("a run that is resumed at any moment answers as one that never stopped [H5, H6, H7, I2, I3]",
          "[tool_run]") {
  int errors = 0;
  int successes = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Comparison comparison{seed};
    for (int i = 0; i < 40; ++i) comparison.turn();
    errors += comparison.errors();
    successes += comparison.successes();
  }
  CHECK(errors > 300);
  CHECK(successes > 300);
}

}  // namespace

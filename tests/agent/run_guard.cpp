#include <encore/agent/call_limit.hpp>
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/step_limit.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::CallLimit;
using encore::IssuedCall;
using encore::LoopDetector;
using encore::Refusal;
using encore::RunGuard;
using encore::SpendLimit;
using encore::StepLimit;
using encore::StopReason;
using encore::usd;

static_assert(RunGuard<CallLimit> && RunGuard<StepLimit> && RunGuard<LoopDetector> && RunGuard<SpendLimit>);
static_assert(!RunGuard<int>);

/// A guard of a user's own: no call of a tool whose name begins so.
struct Forbidden {
  std::string prefix;
  class State {
   public:
    explicit State(const Forbidden& settings) : prefix_{settings.prefix} {}
    std::optional<Refusal> admit(const IssuedCall& call) const {
      if (!call.name.starts_with(prefix_)) return std::nullopt;
      return Refusal{.to_model = "Forbidden."};
    }
    static void new_run() {}
    static std::string save() { return {}; }
    static void restore(std::string_view) {}

   private:
    std::string prefix_;
  };
};
static_assert(RunGuard<Forbidden>);

/// Drives the guards of a run in the order that the header names, as a tool layer does.
class Run {
 public:
  Run(const StepLimit& steps, const CallLimit& calls, const SpendLimit& spend, const LoopDetector& loop)
      : steps_{steps},
        calls_{calls},
        spending_{spend},
        loop_{loop} {}

  /// What became of each call of a turn: nothing if it was made.
  std::vector<StopReason> turn(const std::vector<IssuedCall>& batch) {
    const auto step = steps_.admit();
    const auto verdict = calls_.admit(batch);
    std::vector<StopReason> reasons;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::optional<Refusal> spend = spending_.admit(batch[i]);
      const std::optional<Refusal> loop = loop_.admit(batch[i]);
      auto reason = StopReason::none;
      for (const auto* refusal : {&step, &verdict.calls[i], &spend, &loop})
        if (*refusal && reason == StopReason::none) reason = (*refusal)->reason;
      if (reason == StopReason::none) ++made_, spending_.record(usd("0.10"));
      loop_.answered(batch[i], "the same");
      reasons.push_back(reason);
    }
    return reasons;
  }
  void new_run() {
    steps_.new_run(), calls_.new_run(), spending_.new_run(), loop_.new_run();
    made_ = 0;
  }
  std::string save() const { return steps_.save() + calls_.save() + spending_.save() + loop_.save(); }
  void restore(std::string_view text) {
    steps_.restore(text), calls_.restore(text), spending_.restore(text), loop_.restore(text);
  }
  int made() const { return made_; }

 private:
  StepLimit::State steps_;
  CallLimit::State calls_;
  SpendLimit::State spending_;
  LoopDetector::State loop_;
  int made_ = 0;
};

constexpr IssuedCall same{.name = "search", .arguments = "{}"};

TEST_CASE("when several run guards refuse, the first in order answers: steps, calls, spend, loop",
          "[run_guard]") {
  using enum StopReason;
  // Three times over, 0.10 USD each: then all of these are at their limit, and one after another is lifted.
  const auto fourth = [](Run run) {
    for (int i = 0; i < 3; ++i) CHECK(run.turn({same}) == std::vector{none});
    return run.turn({same}).front();
  };
  const auto run = [&](int steps, int calls, const char* spend) {
    return Run{{.run_limit = steps}, {.run_limit = calls}, {usd(spend)}, {.repeats = 3}};
  };
  CHECK(fourth(run(3, 3, "0.3")) == step_limit_reached);
  CHECK(fourth(run(9, 3, "0.3")) == call_limit_reached);
  CHECK(fourth(run(9, 9, "0.3")) == spend_limit_reached);
  CHECK(fourth(run(9, 9, "9")) == loop_detected);
}

TEST_CASE("calls that the model issued count even when another guard refused them [H5]", "[run_guard]") {
  using enum StopReason;
  // No money at all: every call is refused for it, and the call limit and the loop detector still see it.
  Run broke{{.run_limit = 1'000}, {.run_limit = 20}, {usd(0)}, {.repeats = 3}};
  int asked = 0;
  while (asked < 1'000 &&
         broke.turn({{.name = "search", .arguments = std::to_string(asked)}}).front() != call_limit_reached)
    ++asked;
  CHECK(asked == 20);
  CHECK(broke.made() == 0);
}

TEST_CASE("a run's guards survive a restart as one text, and an ended run still refuses [H5]",
          "[run_guard]") {
  using enum StopReason;
  const auto make = [] {
    return Run{{.run_limit = 10}, {.thread_limit = 6, .run_limit = 5}, {usd(2)}, {.repeats = 3}};
  };
  auto first = make();
  CHECK(first.turn({same, same}) == std::vector{none, none});
  CHECK(first.turn({same, same}) == std::vector{none, loop_detected});
  const auto text = first.save();

  auto resumed = make();
  resumed.restore(text);
  CHECK(resumed.save() == text);
  CHECK(resumed.turn({same, same}) == std::vector{loop_detected, call_limit_reached});
  resumed.new_run();
  // The thread's count goes on: five calls were allowed in the run before.
  CHECK(resumed.turn({same, same}) == std::vector{none, call_limit_reached});
}

}  // namespace

#include <encore/guard/guard.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::AdmissionRequest, encore::Now, encore::RetryOn, encore::RetryPolicy, encore::StopReason;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};
using Log = std::vector<std::string>;

// A guard that does as it is told, and writes down in one log all that it is asked and told.
template <StopReason Refusal = StopReason::circuit_open, bool PerCall = false>
class Gate {
 public:
  using role = encore::role::Guard;
  static constexpr auto refusal = Refusal;
  static constexpr bool per_call = PerCall;
  using Decides = std::function<bool(const AdmissionRequest&)>;

  explicit Gate(Log& log, std::string name = "a") : log_{log}, name_{std::move(name)} {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Decides admits = [](const AdmissionRequest&) { return true; };
  std::function<bool()> still = [] { return true; };
  int admitted = 0, returned = 0;

  class Permit {
   public:
    explicit Permit(Gate& gate) : gate_{&gate} {}
    Permit(Permit&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)}, told_{other.told_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (gate_ == nullptr) return;
      ++gate_->returned;
      if (!told_) gate_->note("unspent");
    }
    void began(const Now&) { gate_->note("began"); }
    bool still_admitted(const Now&) {
      gate_->note("woke");
      return gate_->still();
    }
    void succeeded(const Now&) { tell("succeeded"); }
    void failed(const Now&, bool retryable) { tell(retryable ? "failed" : "failed for good"); }

   private:
    void tell(const char* what) {
      if (told_) gate_->note("told twice");
      told_ = true;
      gate_->note(what);
    }
    Gate* gate_;
    bool told_ = false;
  };

  std::optional<Permit> admit(const AdmissionRequest& request) {
    note("? " + std::to_string(request.ordinal) +
         (request.ahead > 0s ? " in " + std::to_string(request.ahead / 1s) + "s" : ""));
    if (!admits(request)) return std::nullopt;
    ++admitted;
    return std::optional<Permit>{std::in_place, *this};
  }

 private:
  void note(const std::string& what) { log_.push_back(name_ + ' ' + what); }
  Log& log_;
  std::string name_;
};
static_assert(encore::Guard<Gate<>> && encore::Guard<Gate<>&>);
static_assert(!encore::Guard<int>);

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}};

TEST_CASE("a guard is asked before each attempt and told its end [H1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  const auto policy = plain.with(clock, gate);
  Scripted<int> works{returns(17)};
  CHECK(policy.run(works) == 17);
  CHECK(log == Log{"a ? 1", "a began", "a succeeded"});

  log.clear();
  Scripted<int> later{throws<TimeoutError>(), returns(18)};
  CHECK(policy.run(later) == 18);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a woke", "a began", "a succeeded"});

  log.clear();
  Scripted<int> bug{throws<std::logic_error>("bug")};
  CHECK_THROWS_AS(policy.run(bug), std::logic_error);
  CHECK(log == Log{"a ? 1", "a began", "a failed for good"});

  log.clear();
  Scripted<int> exhausted{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(policy.with(encore::MaxRetries{0}).run(exhausted), TimeoutError);
  CHECK(log == Log{"a ? 1", "a began", "a failed"});
  CHECK(gate.admitted == gate.returned);
}

TEST_CASE("a guard is told of the call that asks, and when its attempt will begin [H2]", "[guard]") {
  FakeClock clock;
  clock.advance(100s);
  Log log;
  Gate<> gate{log};
  std::vector<encore::TimePoint> begins;
  gate.admits = [&](const AdmissionRequest& request) {
    CHECK(request.call_id == "call-17");
    CHECK(request.call_name == "lookup");
    CHECK(request.is_retry() == (request.ordinal > 1));
    begins.push_back(request.begins_at());
    return true;
  };
  Scripted<int> tool{clock, times(2, throws<TimeoutError>().takes(10s)), returns(17)};
  CHECK(plain.with(clock, gate).run({.id = "call-17", .name = "lookup"}, tool) == 17);
  CHECK(begins == std::vector{encore::TimePoint{100s}, encore::TimePoint{111s}, encore::TimePoint{123s}});
}

TEST_CASE("a guard refuses a call before its first attempt: its own reason, and nothing to rethrow [H2, G4]",
          "[guard]") {
  FakeClock clock;
  Log log;
  Gate<StopReason::call_limit_reached> gate{log};
  gate.admits = [](const AdmissionRequest&) { return false; };
  Scripted<int> never;
  const auto policy = plain.with(clock, gate);
  try {
    policy.run({.id = "call-17"}, never);
    FAIL("it must be refused");
  } catch (const encore::Refused& refused) {
    CHECK(refused.reason() == StopReason::call_limit_reached);
  }
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(never);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.reason() == StopReason::call_limit_reached);
  CHECK(outcome.failure().error == nullptr);
  CHECK(outcome.failure().refused_on_entry());
  CHECK(outcome.attempts() == 0);
  CHECK(log == Log{"a ? 1", "a ? 1"});
}

TEST_CASE("when one refuses, those that had admitted are released (fault 35: resilience4j #544) [H1]",
          "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  Gate<StopReason::spend_limit_reached> third{log, "c"};
  const auto policy = plain.with(clock, first, second, third, encore::ReturnOutcome{});

  SECTION("on entry") {
    second.admits = [](const AdmissionRequest&) { return false; };
    Scripted<int> never;
    CHECK(policy.run(never).reason() == StopReason::retry_budget_spent);
    CHECK(log == Log{"a ? 1", "b ? 1", "a unspent"});
  }
  SECTION("before a retry") {
    third.admits = [](const AdmissionRequest& request) { return !request.is_retry(); };
    Scripted<int> tool{throws<TimeoutError>()};
    const auto outcome = policy.run(tool);
    CHECK(outcome.reason() == StopReason::spend_limit_reached);
    CHECK(log == Log{"a ? 1", "b ? 1", "c ? 1", "a began", "b began", "c began", "a failed", "b failed",
                     "c failed", "a ? 2 in 1s", "b ? 2 in 1s", "c ? 2 in 1s", "a unspent", "b unspent"});
  }
  CHECK(first.admitted == first.returned);
  CHECK(second.admitted == second.returned);
  CHECK(third.admitted == third.returned);
}

TEST_CASE("those that had admitted are released before anybody hears of the refusal [H1, F1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  second.admits = [](const AdmissionRequest& request) { return !request.is_retry(); };
  int heard = 0;
  const auto policy = plain.with(clock, first, second, encore::Observe{[&](const encore::Event& event) {
                                   if (event.reason != StopReason::retry_budget_spent) return;
                                   ++heard;
                                   CHECK(first.admitted == first.returned);
                                 }});
  Scripted<int> tool{throws<TimeoutError>()};
  CHECK_THROWS_AS(policy.run(tool), TimeoutError);
  CHECK(heard == 2);  // attempt_failed and call_finished
}

TEST_CASE(
    "nobody waits in order to be refused, and the last error is kept (fault 36: failsafe-go) [H2, C6, G7]",
    "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  gate.admits = [](const AdmissionRequest& request) { return request.ordinal < 3; };
  Scripted<int> tool{always(throws<TimeoutError>())};
  const auto policy = plain.with(clock, gate, encore::MaxRetries{9});
  CHECK_THROWS_AS(policy.run(tool), TimeoutError);
  CHECK(clock.sleeps() == Durations{1s});
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.reason() == StopReason::circuit_open);
  CHECK(outcome.attempts() == 2);
  CHECK_THROWS_AS(std::rethrow_exception(outcome.failure().error), TimeoutError);
  CHECK(policy.with(encore::FormatFailure{[](const encore::Failure&) { return 5; }}).run(tool) == 5);
}

TEST_CASE("a guard that closes during the wait refuses on waking, and its permit comes back unspent [H2]",
          "[guard]") {
  FakeClock clock;
  Log log;
  Recorder trace;
  Gate<> gate{log};
  auto open = true;
  gate.still = [&] { return open; };
  clock.after(500ms, [&] { open = false; });
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(plain.with(clock, gate, trace).run({.id = "call-17"}, tool), TimeoutError);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a woke", "a unspent"});
  CHECK(tool.calls() == 1);
  CHECK(trace.events().back().reason == StopReason::circuit_open);
  CHECK(trace.events().back().slept == 1s);
}

TEST_CASE("a stop during the wait returns the permit unspent [H2, K1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(500ms, [&] { source.request_stop(); });
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(plain.with(clock, gate).run({.stop = token}, tool), TimeoutError);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a unspent"});
}

TEST_CASE("a failed value is told like a failed exception [H1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  Scripted<int> tool{returns(-1), returns(1)};
  CHECK(plain.with(clock, gate, encore::RetryIfResult{[](int units) { return units < 0; }}).run(tool) == 1);
  CHECK(log == Log{"a ? 1", "a began", "a failed", "a ? 2 in 1s", "a woke", "a began", "a succeeded"});
}

TEST_CASE("a guard of whole calls is asked once and told the call's end [H1]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<StopReason::circuit_open, true> gate{log};
  const auto policy = plain.with(clock, gate);
  const auto log_of = [&](auto&& under_test, auto&&... steps) {
    log.clear();
    Scripted<int> tool{std::forward<decltype(steps)>(steps)...};
    try {
      static_cast<void>(under_test.run(tool));
    } catch (const std::exception&) {}
    return log;
  };
  CHECK(log_of(policy, returns(1)) == Log{"a ? 1", "a began", "a succeeded"});
  CHECK(log_of(policy, times(2, throws<TimeoutError>()), returns(1)) ==
        Log{"a ? 1", "a began", "a began", "a began", "a succeeded"});
  CHECK(log_of(policy, always(throws<TimeoutError>())) ==
        Log{"a ? 1", "a began", "a began", "a began", "a failed"});
  CHECK(log_of(policy, throws<std::logic_error>("bug")) == Log{"a ? 1", "a began", "a failed for good"});
  CHECK(log_of(policy.with(encore::RetryOnEveryException{}), throws<encore::Cancelled>()) ==
        Log{"a ? 1", "a began", "a unspent"});
  Log other_log;
  Gate<StopReason::spend_limit_reached> other{other_log};
  other.admits = [](const AdmissionRequest& request) { return !request.is_retry(); };
  CHECK(log_of(policy.with(other), throws<TimeoutError>()) == Log{"a ? 1", "a began", "a unspent"});
  other.admits = [](const AdmissionRequest&) { return false; };
  CHECK(log_of(policy.with(other)) == Log{"a ? 1", "a unspent"});
  CHECK(gate.admitted == gate.returned);
}

// ---- conservation (H1): whatever happens, each permission is returned exactly once --------------------------------------

struct Plan {
  int step_kinds;    // base 5 digits: how each attempt ends
  int refuse_first;  // the how manyth question is refused, by each of two guards; 0: none
  int refuse_second;
  int close_on_waking;  // the how manyth waking finds it closed
  bool stop_in_wait;
};

void carry_out(const Plan& plan) {
  FakeClock clock;
  Log log;
  Gate<> first{log, "a"};
  Gate<StopReason::retry_budget_spent> second{log, "b"};
  Gate<StopReason::spend_limit_reached, true> per_call{log, "c"};
  int asked_first = 0, asked_second = 0, woken = 0, attempt = 0;
  first.admits = [&](const AdmissionRequest&) { return ++asked_first != plan.refuse_first; };
  second.admits = [&](const AdmissionRequest&) { return ++asked_second != plan.refuse_second; };
  second.still = [&] { return ++woken != plan.close_on_waking; };
  std::stop_source source;
  const auto token = source.get_token();
  if (plan.stop_in_wait) clock.after(1500ms, [&] { source.request_stop(); });
  auto kinds = plan.step_kinds;
  const auto tool = [&] {
    ++attempt;
    switch (std::exchange(kinds, kinds / 5) % 5) {
      case 0: return 1;
      case 1: return -1;
      case 2: throw TimeoutError{};
      case 3: throw std::logic_error{"bug"};
      default: throw 42;
    }
  };
  const auto policy =
      plain.with(clock, first, per_call, second,
                 RetryOn<TimeoutError>{} || encore::RetryIfResult{[](int n) { return n < 0; }},
                 encore::Observe{[](const encore::Event& event) {
                   if (event.kind == encore::EventKind::attempt_failed) throw 43;
                 }});
  try {
    static_cast<void>(policy.run({.stop = token}, tool));
  } catch (const std::exception&) {
  } catch (int) {}
  CHECK(first.admitted == first.returned);
  CHECK(second.admitted == second.returned);
  CHECK(per_call.admitted == per_call.returned);
  for (const auto& line : log) CHECK(line.find("told twice") == std::string::npos);
}

TEST_CASE(
    "acquired = returned + spent on every path, exceptions included (fault 37: aws-sdk-go-v2 #3186) [H1]",
    "[guard]") {
  for (int steps = 0; steps < 5 * 5 * 5; ++steps)
    for (int refuse_first = 0; refuse_first < 4; ++refuse_first)
      for (int refuse_second = 0; refuse_second < 4; ++refuse_second)
        for (int close = 0; close < 3; ++close)
          for (const bool stop : {false, true}) carry_out({steps, refuse_first, refuse_second, close, stop});
}

TEST_CASE("permits come back when a strategy or a predicate throws [H1, B7, G3]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  const auto policy = plain.with(clock, gate);
  Scripted<int> tool{always(throws<TimeoutError>())};
  CHECK_THROWS_AS(
      policy.with(encore::FormatFailure{[](const encore::Failure&) -> int { throw 42; }}).run(tool), int);
  CHECK_THROWS_AS(policy.with(encore::RetryIf{[](const TimeoutError&) -> bool { throw 42; }}).run(tool),
                  TimeoutError);
  CHECK(gate.admitted == 4);
  CHECK(gate.returned == 4);
}

TEST_CASE("a healthy guard that does not ask the time costs no clock reading [P5]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  Scripted<int> tool{returns(17)};
  CHECK(plain.with(clock, gate).run(tool) == 17);
  CHECK(clock.readings() == 0);
}

TEST_CASE("one guard named in several policies is one guard [H8]", "[guard]") {
  FakeClock clock;
  Log log;
  Gate<> gate{log};
  Scripted<int> tool{returns(1), returns(2)};
  const auto one = plain.with(clock, gate);
  const auto other = plain.with(gate, clock, encore::MaxRetries{7});
  CHECK(one.run(tool) == 1);
  CHECK(other.run(tool) == 2);
  CHECK(gate.admitted == 2);
}

}  // namespace

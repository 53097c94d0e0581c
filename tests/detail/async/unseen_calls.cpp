#include "../../attempts.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Operation {
  Task<int> operator()() const { co_return 1; }
};
struct OperationWithAttempt {
  Task<int> operator()(const Attempt& attempt) const { co_return attempt.ordinal; }
};
template <class Policy, class Op = Operation>
inline constexpr bool unseen = encore::detail::can_be_unseen<encore::detail::PartsOf<Policy>, Op>;

constexpr auto ignore_event = [](const Event&) {};

}  // namespace

TEST_CASE("a call is unobservable where neither the policy nor the operation looks at it [P13]", "[co_run]") {
  const RetryPolicy plain{RetryOn<Slow>{}, TimeBudget{5s}};
  STATIC_REQUIRE(unseen<decltype(plain)>);
  STATIC_REQUIRE(unseen<decltype(plain.with(RetryIfNoValue{}))>);
  STATIC_REQUIRE(!unseen<decltype(plain), OperationWithAttempt>);
  STATIC_REQUIRE(!unseen<decltype(plain.with(ignore_event))>);
  STATIC_REQUIRE(!unseen<decltype(plain.with(Seed{7}))>);
  STATIC_REQUIRE(!unseen<decltype(plain.with(ReturnOutcome{}))>);
  STATIC_REQUIRE(!unseen<decltype(plain.with(BeforeRetry{[] {}}))>);
  STATIC_REQUIRE(!unseen<decltype(plain.with(NeverRetry<std::logic_error>{}))>);
}

TEST_CASE("an unobservable call reads no clock before its first failure, except for its budget [P5 P13]",
          "[co_run]") {
  FakeClock clock;
  ManualExecutor executor{clock};
  const RetryPolicy plain{RetryOn<Slow>{}, clock};
  CHECK(executor.run(co_run(plain, {.id = "a"}, Operation{}, executor.sleeper())) == 1);
  CHECK(clock.readings() == 0);
  CHECK(executor.run(co_run(plain.with(TimeBudget{5s}), {.id = "a"}, Operation{}, executor.sleeper())) == 1);
  CHECK(clock.readings() == 1);
}

namespace {

/// How a call under a policy came out: its value or its error, its waits, and when it was over.
struct CameOut {
  std::string how;
  Durations waits;
  TimePoint over;
  friend bool operator==(const CameOut&, const CameOut&) = default;
};

// A script is a letter for each attempt: S returns, s throws a Slow, e returns an empty value, x throws something else, c says
// that it was cancelled, u throws what no `catch (const std::exception&)` catches. Each takes a second.
template <class Policy>
CameOut come_out(const Policy& policy, const std::string& script, FakeClock& clock) {
  ManualExecutor executor{clock};
  auto next = script.begin();
  const auto operation = [&]() -> Task<std::optional<int>> {
    clock.advance(1s);
    const auto number = static_cast<int>(next - script.begin()) + 1;
    switch (*next++) {
      case 's': throw Slow{"slow " + std::to_string(number)};
      case 'x': throw std::logic_error{"wrong " + std::to_string(number)};
      case 'c': throw std::system_error{std::make_error_code(std::errc::operation_canceled)};
      case 'u': throw number;
      case 'e': co_return std::nullopt;
      default: co_return number;
    }
  };
  CameOut out;
  try {
    const auto value = executor.run(co_run(policy, {.id = "a"}, operation, executor.sleeper()));
    out.how = value ? std::to_string(*value) : "empty " + std::to_string(next - script.begin());
  } catch (const std::exception& error) {
    out.how = error.what();
  } catch (int number) {
    out.how = "int " + std::to_string(number);
  }
  out.waits = clock.sleeps();
  out.over = clock.now();
  return out;
}

}  // namespace

TEST_CASE(
    "a call ends the same whether its state is constructed lazily or from its start [A2 B3 B4 D3 G1 P13]",
    "[co_run]") {
  for (const std::string script :
       {"S", "sS", "ssS", "sssS", "x", "sx", "ssx", "c", "sc", "eS", "eeeS", "esS", "sees", "u", "su"}) {
    for (const auto budget : {Duration::zero(), Duration{2s}, Duration{4s}, Duration{1h}}) {
      INFO("attempts " << script << ", budget " << budget.count() << " ns");
      FakeClock clock;
      FakeClock other_clock;
      for (auto* begun : {&clock, &other_clock}) begun->advance(10s);  // a call does not begin at time 0
      const RetryPolicy late{RetryOn<Slow>{} || RetryIfNoValue{}, MaxRetries{2}, TimeBudget{budget},
                             NoJitter{}, clock};
      const auto early = late.with(ignore_event, other_clock);
      STATIC_REQUIRE(unseen<decltype(late)>);
      STATIC_REQUIRE(!unseen<decltype(early)>);
      CHECK(come_out(late, script, clock) == come_out(early, script, other_clock));
    }
  }
}

TEST_CASE(
    "unobservable calls give the results of every row of attempts.csv without control flow [A1 B3 C1 C6 G1 "
    "P13]",
    "[co_run]") {
  auto calls = 0;
  for (const auto& row : encore_tests::rows_of("attempts.csv")) {
    INFO("row " << row.text("id"));
    // Where no control flow is thrown, a policy without a list of it has nothing to look at in the call.
    if (row.text("script").find("CONTROL") != std::string::npos) continue;
    const auto told = encore_tests::told_by(
        [&](const auto& policy, const Call& call, auto& script) {
          const auto unlisted = policy.template without<role::Never>();
          calls += unseen<decltype(unlisted), Task<int> (*)()>;
          ManualExecutor executor{unlisted.clock()};
          return executor.run(co_run(
              unlisted, call, [&script]() -> Task<std::string> { co_return script(); }, executor.sleeper()));
        },
        row);
    CHECK(told == encore_tests::expected_of(row));
  }
  CHECK(calls > 10);
}

TEST_CASE("an unobservable call that is cancelled in its wait keeps its last failure [B4 K1]", "[co_run]") {
  const auto cancelled = [](Duration) -> Task<void> {
    throw Cancelled{};
    co_return;
  };
  const RetryPolicy policy{RetryOn<Slow>{}};
  auto runs = 0;
  auto task = co_run(
      policy,
      [&]() -> Task<int> {
        ++runs;
        throw Slow{"the last failure"};
        co_return 0;
      },
      cancelled);
  task.start();
  REQUIRE(task.done());
  CHECK_THROWS_AS(task.result(), Slow);
  CHECK(runs == 1);
}

TEST_CASE("a call with limits of its own is observable, whatever its policy [D2 K1 K2]", "[co_run]") {
  FakeClock clock;
  ManualExecutor executor{clock};
  const RetryPolicy policy{RetryOn<Slow>{}, NoJitter{}, clock};
  const auto slow = []() -> Task<int> {
    throw Slow{"slow"};
    co_return 0;
  };
  const auto deadline = clock.now() + 500ms;
  CHECK_THROWS_AS(executor.run(co_run(policy, {.deadline = deadline}, slow, executor.sleeper())), Slow);
  CHECK(clock.sleeps() == Durations{});
  std::stop_source source;
  const auto token = source.get_token();
  source.request_stop();
  CHECK_THROWS_AS(executor.run(co_run(policy, {.stop = token}, slow, executor.sleeper())), Refused);
}

#include "../asio_like_category.hpp"
#include "../attempts.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/engine/replay_safety_text.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <concepts>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A guard that counts what it admitted and what came back.
struct Counting {
  using role = encore::role::Guard;
  static constexpr auto refusal = StopReason::refused_by_guard;
  int out = 0;
  int unspent = 0;
  Counting() = default;
  Counting(const Counting&) = delete;

  class Permit {
   public:
    explicit Permit(Counting& guard) : guard_{&guard} { ++guard.out; }
    Permit(Permit&& other) noexcept : guard_{std::exchange(other.guard_, nullptr)} {}
    ~Permit() {
      if (guard_ != nullptr) --guard_->out, ++guard_->unspent;
    }
    void succeeded(const Now&) { --std::exchange(guard_, nullptr)->out; }
    void failed(const Now&, bool) { --std::exchange(guard_, nullptr)->out; }

   private:
    Counting* guard_;
  };
  std::optional<Permit> admit(const AdmissionRequest&) { return Permit{*this}; }
};

struct OnFakeTime {
  FakeClock clock;
  ManualExecutor executor{clock};
  Recorder trace;
  RetryPolicy<FakeClock&, RetryOn<Slow>, Options<NoJitter, Recorder&>> policy{RetryOn<Slow>{}, NoJitter{},
                                                                              clock, trace};
};

}  // namespace

TEST_CASE("every row of attempts.csv gives the same result in a coroutine as in a thread [A1 B3 C1 C6 G1]",
          "[co_run]") {
  encore_tests::check_attempts([](const auto& policy, const Call& call, auto& script) {
    ManualExecutor executor{policy.clock()};
    return executor.run(
        co_run(policy, call, [&script]() -> Task<std::string> { co_return script(); }, executor.sleeper()));
  });
}

TEST_CASE_METHOD(OnFakeTime, "a coroutine reports the same events as a thread [F1]", "[co_run]") {
  const auto flaky = [](int& left) { return [&left] { return left-- > 0 ? throw Slow{"slow"} : 17; }; };
  auto left = 2;
  CHECK(policy.run({.id = "call-17", .name = "lookup"}, flaky(left)) == 17);
  FakeClock other_clock;
  ManualExecutor other_executor{other_clock};
  Recorder other_trace;
  left = 2;
  CHECK(other_executor.run(co_run(
            RetryPolicy{RetryOn<Slow>{}, NoJitter{}, other_clock, other_trace},
            {.id = "call-17", .name = "lookup"}, [&]() -> Task<int> { co_return flaky(left)(); },
            other_executor.sleeper())) == 17);
  CHECK(other_trace.events() == trace.events());
  CHECK(other_clock.sleeps() == Durations{1s, 2s});
}

namespace {

struct Busy : std::runtime_error {
  Busy() : std::runtime_error{"busy"} {}
  Duration retry_after() const { return 7s; }
};

/// How a call came out of a driver, and all that was heard of it.
struct Heard {
  std::string result;
  Recording events;
  Durations sleeps;
  int permits_out = 0;
  friend bool operator==(const Heard&, const Heard&) = default;
};
template <class Result>
std::string text_of(const Result& result) {
  if constexpr (std::same_as<Result, Outcome<int>>)
    return result ? "value " + std::to_string(*result) : std::string{to_string(result.reason())};
  else
    return std::to_string(result);
}

// A script is a letter for each attempt: S returns 17, s throws a Slow, b a Busy with a hint, x a logic_error, c a
// cancellation, n returns -1; d throws after it was dispatched.
int play(char step, const Attempt& attempt) {
  switch (step) {
    case 's': throw Slow{"slow"};
    case 'b': throw Busy{};
    case 'x': throw std::logic_error{"wrong"};
    case 'c': throw Cancelled{};
    case 'd': attempt.mark_dispatched(); throw Slow{"lost"};
    case 'n': return -1;
    default: return 17;
  }
}

template <class Policy>
Heard heard_of(bool in_coroutine, const Policy& policy, const std::string& script, const Call& call) {
  FakeClock clock;
  ManualExecutor executor{clock};
  Recorder trace;
  Counting guard;
  const auto complete = policy.with(clock, trace, guard, NoJitter{});
  Heard heard;
  try {
    if (in_coroutine)
      heard.result = text_of(executor.run(co_run(
          complete, call,
          [&](const Attempt& attempt) -> Task<int> {
            co_return play(script.at(static_cast<std::size_t>(attempt.ordinal) - 1), attempt);
          },
          executor.sleeper())));
    else
      heard.result = text_of(complete.run(call, [&](const Attempt& attempt) {
        return play(script.at(static_cast<std::size_t>(attempt.ordinal) - 1), attempt);
      }));
  } catch (const std::exception& error) {
    heard.result = error.what();
  }
  heard.events = trace.events();
  heard.sleeps = clock.sleeps();
  heard.permits_out = guard.out;
  return heard;
}

}  // namespace

TEST_CASE("whatever the policy, a coroutine ends as a thread does, and reports the same events [B E F G H]",
          "[co_run]") {
  const RetryPolicy rethrow{RetryOn<Slow, Busy>{} || RetryIfResult{[](int x) { return x < 0; }}};
  const Scope scope{1, 2};
  for (const std::string script : {"S", "sS", "sbS", "bnS", "nnS", "nnn", "ssS", "sss", "bbb", "x", "sx",
                                   "nx", "c", "sc", "d", "sd", "dS"}) {
    for (const auto& call : {Call{.id = "a", .name = "tool"}, Call{.id = "a", .deadline = TimePoint{} + 2s},
                             Call{.id = "a", .deadline = TimePoint{}},
                             Call{.id = "a", .refused = StopReason::call_limit_reached},
                             Call{.id = "a", .replay = ReplaySafety::repeatable_with_key, .scope = &scope},
                             Call{.id = "a", .replay = ReplaySafety::never}}) {
      INFO("attempts " << script << ", deadline " << call.deadline.has_value() << ", replay "
                       << to_string(call.replay));
      const auto same = [&](const auto& policy) {
        const auto by_thread = heard_of(false, policy, script, call);
        CHECK(heard_of(true, policy, script, call) == by_thread);
        CHECK(by_thread.permits_out == 0);
      };
      same(rethrow);
      same(rethrow.with(ReturnOutcome{}));
      same(rethrow.with(FormatFailure{[](const Failure& failure) { return -failure.attempts; }}));
      same(rethrow.with(FormatFailure{[](const Failure&) -> int { throw std::runtime_error{"formatter"}; }},
                        HandleUnmatched{}));
      same(rethrow.with(HintCap{5s}, TimeBudget{10s}));
      same(rethrow.with(NeverRetry<Busy>{}, MaxRetries{1}));
      same(rethrow.with(NeverRetryIf{[](const Slow&) -> bool { throw std::runtime_error{"predicate"}; }}));
      same(rethrow.with(BeforeRetry{[](const Attempt& attempt) {
        if (attempt.ordinal == 3) throw Slow{"not ready"};
      }}));
    }
  }
}

TEST_CASE_METHOD(OnFakeTime,
                 "a coroutine is nested in the attempt that its call names, and in no other [J1 J2]",
                 "[co_run]") {
  const auto single = policy.with(WhenNested{Nested::make_single});
  auto runs = 0;
  const auto slow = [&]() -> Task<int> {
    ++runs;
    throw Slow{"slow"};
    co_return 0;
  };
  const auto run_in_an_attempt = [&](std::string_view id, bool named) {
    single.run({.id = "outer"}, [&](const Attempt& outer) {
      const Call call{.id = id, .outer = named ? &outer : nullptr};
      CHECK_THROWS_AS(executor.run(co_run(single, call, slow, executor.sleeper())), Slow);
    });
    return std::exchange(runs, 0);
  };
  CHECK(run_in_an_attempt("inside", true) == 1);
  CHECK(trace.of("inside").back().outer_id == "outer");
  // This thread happens to run the coroutine, which somebody else may have begun.
  CHECK(run_in_an_attempt("beside", false) == 3);
  for (const auto& event : trace.of("beside")) CHECK(event.outer_id.empty());
}

TEST_CASE_METHOD(OnFakeTime, "a stop request that the sleeper does not get is noticed after the wait [K1]",
                 "[co_run]") {
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(300ms, [&] { source.request_stop(); });
  auto runs = 0;
  CHECK_THROWS_AS(executor.run(co_run(
                      policy, {.id = "a", .stop = token},
                      [&]() -> Task<int> {
                        ++runs;
                        throw Slow{"slow"};
                        co_return 0;
                      },
                      [&](Duration duration) { return executor.sleeper()(duration, {}); })),
                  Slow);
  CHECK(runs == 1);
  CHECK(clock.sleeps() == Durations{1s});
  CHECK(trace.events().back().reason == StopReason::cancelled);
}

TEST_CASE_METHOD(OnFakeTime, "a coroutine returns void, move-only and reference results [A6]", "[co_run]") {
  auto runs = 0;
  executor.run(co_run(
      policy,
      [&]() -> Task<void> {
        ++runs;
        co_return;
      },
      executor.sleeper()));
  CHECK(runs == 1);
  CHECK(*executor.run(co_run(
            policy, []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); },
            executor.sleeper())) == 7);
  auto here = 0;
  auto& there = executor.run(co_run(policy, [&]() -> Task<int&> { co_return here; }, executor.sleeper()));
  CHECK(&there == &here);
}

TEST_CASE_METHOD(OnFakeTime, "the result type of a coroutine follows the failure strategy [G2 G3]",
                 "[co_run]") {
  auto always = []() -> Task<int> {
    throw Slow{"slow"};
    co_return 0;
  };
  auto task = co_run(policy.with(ReturnOutcome{}), {.id = "a"}, always, executor.sleeper());
  STATIC_REQUIRE(std::same_as<decltype(task), Task<Outcome<int>>>);
  const auto outcome = executor.run(std::move(task));
  CHECK(outcome.reason() == StopReason::retries_exhausted);
  CHECK(outcome.attempts() == 3);
  CHECK(outcome.elapsed() == 3s);  // the waits of 1 s and 2 s
  CHECK(executor.run(
            co_run(policy.with(FormatFailure{[](const Failure& failure) { return -failure.attempts; }}),
                   always, executor.sleeper())) == -3);
}

TEST_CASE_METHOD(
    OnFakeTime,
    "a failed value is kept through a coroutine's wait and returned when the call gives up [B8 G1]",
    "[co_run]") {
  const RetryPolicy by_value{RetryIfResult{[](const std::string& text) { return text.starts_with("busy"); }},
                             NoJitter{}, clock};
  auto n = 0;
  CHECK(executor.run(co_run(
            by_value, [&]() -> Task<std::string> { co_return "busy " + std::to_string(++n); },
            executor.sleeper())) == "busy 3");
  n = 0;
  const auto outcome = executor.run(co_run(
      by_value.with(ReturnOutcome{}), [&]() -> Task<std::string> { co_return "busy " + std::to_string(++n); },
      executor.sleeper()));
  REQUIRE(outcome.last_value() != nullptr);
  CHECK(*outcome.last_value() == "busy 3");
}

TEST_CASE_METHOD(OnFakeTime,
                 "a stop request in a coroutine's wait ends it at once and keeps the last failure [K1]",
                 "[co_run]") {
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(300ms, [&] { source.request_stop(); });
  CHECK_THROWS_AS(executor.run(co_run(
                      policy, {.id = "a", .stop = token},
                      []() -> Task<int> {
                        throw Slow{"the last failure"};
                        co_return 0;
                      },
                      executor.sleeper())),
                  Slow);
  CHECK(clock.sleeps() == Durations{300ms});
  CHECK(trace.events().back().reason == StopReason::cancelled);
  CHECK(trace.events().back().slept == 300ms);
}

TEST_CASE_METHOD(OnFakeTime, "a stop requested before a coroutine's first attempt prevents it [K2 G4]",
                 "[co_run]") {
  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  auto runs = 0;
  CHECK_THROWS_AS(executor.run(co_run(
                      policy, {.stop = token}, [&]() -> Task<int> { co_return ++runs; }, executor.sleeper())),
                  Refused);
  CHECK(runs == 0);
}

TEST_CASE_METHOD(OnFakeTime,
                 "a coroutine's wait that is cancelled ends the call with its last failure [B4 K1]",
                 "[co_run]") {
  const auto ends_with_last_failure = [&](const auto& cancellation) {
    auto runs = 0;
    CHECK_THROWS_AS(executor.run(co_run(
                        policy,
                        [&]() -> Task<int> {
                          ++runs;
                          throw Slow{"slow"};
                          co_return 0;
                        },
                        [&](Duration) -> Task<void> {
                          throw cancellation;
                          co_return;
                        })),
                    Slow);
    CHECK(runs == 1);
    CHECK(trace.events().back().reason == StopReason::cancelled);
  };
  ends_with_last_failure(Cancelled{});
  ends_with_last_failure(std::system_error{std::make_error_code(std::errc::operation_canceled)});
  ends_with_last_failure(std::system_error{ECANCELED, encore_tests::asio_like});
}

TEST_CASE_METHOD(OnFakeTime,
                 "a coroutine's wait that fails is not a cancellation: its exception propagates [K1]",
                 "[co_run]") {
  const auto leaves = [&](const auto& error) {
    CHECK_THROWS_AS(executor.run(co_run(
                        policy,
                        []() -> Task<int> {
                          throw Slow{"slow"};
                          co_return 0;
                        },
                        [&](Duration) -> Task<void> {
                          throw error;
                          co_return;
                        })),
                    std::remove_cvref_t<decltype(error)>);
    CHECK(trace.events().back().kind == EventKind::call_finished);
    CHECK(trace.events().back().reason == StopReason::cancelled);
  };
  leaves(std::system_error{std::make_error_code(std::errc::not_enough_memory)});
  leaves(NoProgress{"a test"});  // never retried, and yet nobody cancelled anything
}

TEST_CASE_METHOD(OnFakeTime, "a coroutine's cancelled operation is never retried [B4]", "[co_run]") {
  const auto attempts_of = [&](const auto& filter, const std::error_code& code) {
    auto runs = 0;
    CHECK_THROWS_AS(executor.run(co_run(
                        policy.with(filter),
                        [&]() -> Task<int> {
                          ++runs;
                          throw std::system_error{code};
                          co_return 0;
                        },
                        executor.sleeper())),
                    std::system_error);
    return runs;
  };
  const std::error_code in_asio{ECANCELED, encore_tests::asio_like};
  CHECK(attempts_of(RetryOnEveryException{}, std::make_error_code(std::errc::operation_canceled)) == 1);
  CHECK(attempts_of(RetryOnEveryException{}, in_asio) == 1);
  CHECK(attempts_of(RetryOn<std::system_error>{}, in_asio) == 1);
  CHECK(trace.events().back().reason == StopReason::never_retry_type);
  CHECK(attempts_of(RetryOn<std::system_error>{}, {ETIMEDOUT, encore_tests::asio_like}) == 3);
}

TEST_CASE_METHOD(OnFakeTime,
                 "a coroutine destroyed at any point returns its permit and reports its end once [H1 F1]",
                 "[co_run]") {
  // Attempts take a second, and waits take 1 s and 2 s: it is destroyed in its first attempt, in its first wait, in its second
  // attempt …, before it starts, and after its end.
  for (const auto after : {-1s, 0s, 1s, 2s, 3s, 5s, 6s}) {
    INFO("destroyed after " << after.count() << " s");
    Counting guard;
    Recorder events;
    {
      auto task = co_run(
          policy.with(guard, events), {.id = "a"},
          [&]() -> Task<int> {
            co_await executor.sleeper()(1s, {});
            throw Slow{"slow"};
          },
          executor.sleeper());
      if (after >= 0s) {
        task.start();
        executor.run_for(after);
      }
      CHECK(task.done() == (after == 6s));
      CHECK(guard.out == (after >= 0s && after < 6s ? 1 : 0));
    }
    CHECK(executor.sleeping() == 0);
    CHECK(guard.out == 0);
    const auto heard = events.events();
    const auto finished = std::count_if(
        heard.begin(), heard.end(), [](const auto& event) { return event.kind == EventKind::call_finished; });
    CHECK(finished == (after >= 0s ? 1 : 0));
    if (heard.empty()) continue;
    CHECK(heard.back().kind == EventKind::call_finished);
    CHECK(heard.back().reason == (after == 6s ? StopReason::retries_exhausted : StopReason::cancelled));
  }
}

TEST_CASE_METHOD(
    OnFakeTime,
    "a coroutine destroyed in an attempt whose request was sent ends with an unknown outcome [I3, H1]",
    "[co_run]") {
  Recorder events;
  {
    auto task = co_run(
        policy.with(events), {.id = "a", .replay = ReplaySafety::never},
        [&](const Attempt& attempt) -> Task<int> {
          attempt.mark_dispatched();
          co_await executor.sleeper()(1s, {});
          co_return 17;
        },
        executor.sleeper());
    task.start();
  }
  CHECK(events.events().back().reason == StopReason::cancelled);
  CHECK(events.events().back().outcome_unknown);
}

TEST_CASE_METHOD(OnFakeTime, "everything passed to co_run may be destroyed before the first attempt [F5]",
                 "[co_run]") {
  for (const auto size : {std::size_t{1}, OwnedCall::room, OwnedCall::room + 1}) {
    INFO("an id of " << size << " bytes");
    std::optional<Task<std::string>> task;
    {
      std::string id(size, 'i');
      const std::stop_source source;
      auto token = std::make_unique<std::stop_token>(source.get_token());
      auto scope = std::make_unique<Scope>(1, 2, [] { return std::uint64_t{7}; });
      std::string captured(100, 'c');
      task.emplace(co_run(
          RetryPolicy{policy},
          {.id = id, .name = std::string{"a tool"}, .stop = *token, .scope = scope.get()},
          [this, captured](const Attempt& attempt) -> Task<std::string> {
            co_await executor.sleeper()(1s, attempt.stop());
            if (attempt.ordinal == 1) throw Slow{"slow"};
            co_return attempt.idempotency_key() + " " + std::string{attempt.call_name()} + " " + captured;
          },
          [this, captured](Duration duration, const StopView& stop) -> Task<void> {
            co_await executor.sleeper()(duration, stop);
            if (stop.stop_requested() || captured != std::string(100, 'c')) throw Cancelled{};
          }));
      id.assign(size, 'x'), captured.assign(100, 'x'), token.reset(), scope.reset();
    }
    const auto expected = Scope{1, 2}.text() + "/" + std::string(size, 'i') + "/0000000000000007 a tool " +
                          std::string(100, 'c');
    CHECK(executor.run(*std::move(task)) == expected);
  }
  CHECK(trace.events().back().call_name == "a tool");
}

TEST_CASE_METHOD(OnFakeTime, "a callable that cannot be copied is moved into the coroutine's frame [A6]",
                 "[co_run]") {
  auto lookup = [left = std::make_unique<int>(2)]() -> Task<int> {
    if ((*left)-- > 0) throw Slow{"slow"};
    co_return 17;
  };
  auto task = co_run(policy, std::move(lookup), executor.sleeper());
  CHECK(executor.run(std::move(task)) == 17);
}

TEST_CASE_METHOD(OnFakeTime, "BeforeRetry may be a coroutine under co_run", "[co_run]") {
  auto reconnected = 0;
  auto left = 1;
  CHECK(executor.run(co_run(
            policy.with(BeforeRetry{[&]() -> Task<void> {
              ++reconnected;
              co_return;
            }}),
            [&]() -> Task<int> {
              if (left-- > 0) throw Slow{"slow"};
              co_return 5;
            },
            executor.sleeper())) == 5);
  CHECK(reconnected == 1);
}

TEST_CASE_METHOD(OnFakeTime, "BeforeRetry under co_run may be an ordinary function, which is only called",
                 "[co_run]") {
  const auto token = std::make_unique<std::string>("token");
  auto refreshed = 0;
  auto left = 2;
  const auto lookup = [&]() -> Task<int> {
    if (left-- > 0) throw Slow{"slow"};
    co_return 5;
  };
  const auto by_value = policy.with(BeforeRetry{[&] { return ++refreshed, std::string{"token"}; }});
  CHECK(executor.run(co_run(by_value, lookup, executor.sleeper())) == 5);
  CHECK(refreshed == 2);
  left = 1;
  const auto referred =
      policy.with(BeforeRetry{[&]() -> const std::unique_ptr<std::string>& { return ++refreshed, token; }});
  CHECK(executor.run(co_run(referred, lookup, executor.sleeper())) == 5);
  CHECK(refreshed == 3);
}

TEST_CASE("ten thousand calls in flight on one thread keep their budgets, ids and ordinals apart [A3 A4]",
          "[co_run]") {
  constexpr auto calls = 10'000;
  FakeClock clock{{.max_attempts_without_progress = 100'000}};
  ManualExecutor executor{clock};
  std::vector<int> last_ordinal(calls, 0);
  auto gaps = 0;
  const auto watch = [&](const Event& event) {
    const auto call = static_cast<std::size_t>(std::stoi(std::string{event.call_id()}));
    if (event.kind == EventKind::attempt_started && event.ordinal != ++last_ordinal[call]) ++gaps;
  };
  const RetryPolicy policy{RetryOn<Slow>{}, MaxRetries{4}, clock, watch, Seed{7}};
  std::vector<Task<int>> tasks;
  for (auto call = 0; call < calls; ++call) {
    tasks.push_back(co_run(
        policy, {.id = std::to_string(call)},
        [call](const Attempt& attempt) -> Task<int> {
          if (attempt.ordinal <= call % 6) throw Slow{"slow"};  // one in six fails once too often
          co_return call;
        },
        executor.sleeper()));
  }
  for (auto& task : tasks) task.start();
  CHECK(executor.sleeping() == calls - (calls + 5) / 6);  // those with call % 6 == 0 succeeded at once
  executor.run();
  auto succeeded = 0;
  auto failed = 0;
  for (auto call = 0; call < calls; ++call) {
    auto& task = tasks[static_cast<std::size_t>(call)];
    REQUIRE(task.done());
    const auto attempts = std::min(call % 6 + 1, 5);
    if (last_ordinal[static_cast<std::size_t>(call)] != attempts) ++gaps;
    try {
      succeeded += task.result() == call ? 1 : 0;
    } catch (const Slow&) {
      ++failed;
    }
  }
  CHECK(gaps == 0);
  CHECK(failed == calls / 6);
  CHECK(succeeded == calls - calls / 6);
}

TEST_CASE("ten thousand calls in flight each have a time budget of their own [A3 D2 D3 F2]", "[co_run]") {
  constexpr auto calls = 10'000;
  FakeClock clock;
  ManualExecutor executor{clock};
  std::vector<EventRecord> heard;
  const RetryPolicy policy{
      RetryOn<Slow>{}, TimeBudget{10s}, ConstantBackoff{3s},
      NoJitter{},      clock,           [&](const Event& event) { heard.push_back(record(event)); },
      ReturnOutcome{}};
  std::vector<Task<Outcome<int>>> tasks;
  for (auto call = 0; call < calls; ++call) {
    tasks.push_back(co_run(
        policy, {.id = std::to_string(call)},
        []() -> Task<int> {
          throw Slow{"slow"};
          co_return 0;
        },
        executor.sleeper()));
    tasks.back().start();
    executor.run_for(100us);  // so each begins at another time, and none is over before the last begins
  }
  CHECK(executor.sleeping() == static_cast<std::size_t>(calls));
  executor.run();

  // Each made its attempts 0, 3, 6 and 9 s after it began: the next would have been after the end of its budget.
  auto wrong = 0;
  for (auto& task : tasks) {
    const auto outcome = task.result();
    if (outcome.reason() != StopReason::deadline || outcome.attempts() != 4 || outcome.elapsed() != 9s)
      ++wrong;
  }
  auto switches = 0;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const auto& event = heard[i];
    const auto began = TimePoint{} + std::stoi(event.call_id) * 100us;
    if (event.at != began + (event.ordinal - 1) * 3s) ++wrong;
    if (i > 0 && event.call_id != heard[i - 1].call_id) ++switches;
  }
  CHECK(wrong == 0);
  CHECK(heard.size() == static_cast<std::size_t>(calls * (4 * 2 + 1)));
  CHECK(switches == calls * 4 - 1);  // between two attempts of a call there were always other calls'
}

TEST_CASE("ten thousand calls in flight share one retry budget and one circuit [H4 H8]", "[co_run]") {
  constexpr auto calls = 10'000;
  FakeClock clock;
  ManualExecutor executor{clock};
  RetryBudget budget{{.share = 0.1, .floor = 0, .memory = 1h, .max_saved = calls}};
  Counting in_flight;
  auto attempts = 0;
  std::map<StopReason, int> ended;
  const auto run_all = [&](const auto& policy, const auto& operation) {
    std::vector<Task<Outcome<int>>> tasks;
    for (auto call = 0; call < calls; ++call) {
      tasks.push_back(co_run(policy, {.id = std::to_string(call)}, operation, executor.sleeper()));
      tasks.back().start();
    }
    executor.run();
    attempts = 0;
    ended.clear();
    for (auto& task : tasks) {
      const auto outcome = task.result();
      attempts += outcome.attempts();
      ++ended[outcome.reason()];
    }
    CHECK(in_flight.out == 0);
  };
  const auto down = []() -> Task<int> {
    throw Slow{"slow"};
    co_return 0;
  };
  const RetryPolicy policy{RetryOn<Slow>{}, clock, ReturnOutcome{}, budget, in_flight, NoJitter{}};
  run_all(policy, down);
  CHECK(attempts == calls + calls / 10);  // a tenth of the load more, and not one attempt beyond it
  CHECK(ended == std::map<StopReason, int>{{StopReason::retry_budget_spent, calls}});
  CHECK(budget.tokens(encore::Now{clock}) == 0);

  // The circuit opens at the fifth failure, and stays open: whoever waits is refused on waking, everybody else at once.
  CircuitBreaker breaker{{.failures_to_open = 5, .open_for = 1h}};
  run_all(policy.without<role::Guard>().with(breaker, in_flight), down);
  CHECK(attempts == 5);
  CHECK(ended == std::map<StopReason, int>{{StopReason::circuit_open, calls}});
}

namespace {

/// Threads that resume what is put into their queue. The last one out has resumed everything.
class Pool {
 public:
  explicit Pool(int threads) {
    for (auto i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() { finish(); }

  /// Goes on on one of these threads.
  auto hop() {
    struct Hop {
      Pool& pool;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> frame) const { pool.post(frame); }
      void await_resume() const noexcept {}
    };
    return Hop{*this};
  }
  void finish() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    more_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void post(std::coroutine_handle<> frame) {
    const std::lock_guard lock{mutex_};
    queue_.push_back(frame);
    more_.notify_one();
  }
  void work() {
    std::unique_lock lock{mutex_};
    for (;;) {
      more_.wait(lock, [&] { return !queue_.empty() || (closed_ && generator_ == 0); });
      if (queue_.empty()) return;
      const auto frame = queue_.front();
      queue_.pop_front();
      ++generator_;
      lock.unlock();
      frame.resume();
      lock.lock();
      if (--generator_ == 0 && closed_) more_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::coroutine_handle<>> queue_;
  int generator_ = 0;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("calls move from thread to thread, and share policy, guards and a stop token [H8 L1]",
          "[co_run][threads]") {
  constexpr auto calls = 2'000;
  RetryBudget budget{{.share = 0.5, .floor = 0, .memory = 1h, .max_saved = calls}};
  std::atomic<int> started{0}, ended{0}, finished{0};
  const RetryPolicy policy{
      RetryOn<Slow>{}, MaxRetries{3}, ConstantBackoff{1ms}, ReturnOutcome{}, budget, [&](const Event& event) {
        if (event.kind == EventKind::attempt_started)
          ++started;
        else if (event.kind == EventKind::call_finished)
          ++finished;
        else
          ++ended;
      }};
  std::stop_source source;
  const auto token = source.get_token();
  std::vector<Task<Outcome<int>>> tasks;
  Pool pool{4};
  const auto sleeper = [&](Duration) { return pool.hop(); };
  for (auto call = 0; call < calls; ++call) {
    tasks.push_back(co_run(
        policy, {.stop = call % 2 == 1 ? StopView{token} : StopView{}},
        [&pool, call](const Attempt& attempt) -> Task<int> {
          co_await pool.hop();
          if (attempt.ordinal <= call % 3) throw Slow{"slow"};
          co_return call;
        },
        sleeper));
  }
  for (auto call = 0; call < calls; ++call) {
    if (call == calls / 2) source.request_stop();
    tasks[static_cast<std::size_t>(call)].start();
  }
  pool.finish();

  auto attempts = 0;
  auto retries = 0;
  for (auto call = 0; call < calls; ++call) {
    auto& task = tasks[static_cast<std::size_t>(call)];
    REQUIRE(task.done());
    const auto outcome = task.result();
    attempts += outcome.attempts();
    retries += std::max(outcome.attempts() - 1, 0);
    if (outcome.has_value()) CHECK(*outcome == call);
    if (call >= calls / 2 && call % 2 == 1) CHECK(outcome.reason() == StopReason::cancelled_on_entry);
  }
  CHECK(started == attempts);
  CHECK(ended == attempts);
  CHECK(finished == calls);
  CHECK(retries > 0);
  CHECK(budget.tokens(encore::Now{policy.clock()}) ==
        0.5 * (calls - calls / 4) - retries);  // no token lost, none made
}

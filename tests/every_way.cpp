// Random calls, made in every way there is, and worked out by a model that shares no code with the library: all must agree.
// Some seconds by default. As long as one likes: ENCORE_SCENARIOS=1000000 encore_tests "[every_way]", ENCORE_SEED=7 for others.
#include <encore/any_retry_policy.hpp>
#include <encore/async/co_run.hpp>
#include <encore/durable/durable_call.hpp>
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/retrying.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Wrong : std::logic_error {
  using std::logic_error::logic_error;
};

struct Throttled : std::runtime_error {
  Duration hint;
  Throttled(const std::string& text, Duration wait) : runtime_error{text}, hint{wait} {}
  Duration retry_after() const { return hint; }
};

constexpr auto negative = [](int value) { return value < 0; };

// ---- what is tried -----------------------------------------------------------------------------------------------------

/// One call and what becomes of its attempts, one letter each: (r)eturns its ordinal, returns a (n)egative number, throws (s)low,
/// (t)hrottled, (w)rong or an (i)nt.
struct Scenario {
  std::string script{};
  int max_retries = 0;
  milliseconds initial_delay{}, max_delay{}, attempt_takes{}, hint{}, hint_cap{}, least{};
  double factor = 1;
  milliseconds budget = 24h;
  std::optional<milliseconds> deadline{}, stop_at{};

  std::string text() const {
    std::ostringstream out;
    const auto ms = [](const std::optional<milliseconds>& time) {
      return time ? std::to_string(time->count()) + " ms" : "none";
    };
    out << "script " << script << ", retries " << max_retries << ", initial " << ms(initial_delay) << " by "
        << factor << " to " << ms(max_delay) << ", attempts take " << ms(attempt_takes) << ", hint "
        << ms(hint) << " up to " << ms(hint_cap) << ", least " << ms(least) << ", budget " << ms(budget)
        << ", deadline " << ms(deadline) << ", stop " << ms(stop_at);
    return out.str();
  }
};

Scenario random_scenario(std::mt19937_64& random) {
  const auto one_of = [&]<class T>(std::initializer_list<T> values) {
    return *(values.begin() + std::uniform_int_distribution<std::ptrdiff_t>{
                                  0, static_cast<std::ptrdiff_t>(values.size()) - 1}(random));
  };
  Scenario made;
  made.max_retries = one_of({0, 1, 2, 3, 5});
  for (auto i = 0; i <= made.max_retries; ++i)
    made.script += one_of({'s', 's', 's', 't', 'n', 'n', 'r', 'w', 'i'});
  made.initial_delay = one_of({0ms, 100ms, 1000ms, 1500ms});
  made.factor = one_of({0.0, 1.0, 2.0, 3.0});
  made.max_delay = one_of({0ms, 1000ms, 2500ms, 60'000ms});
  made.attempt_takes = one_of({0ms, 100ms, 500ms});
  made.hint = one_of({0ms, 700ms, 5000ms});
  made.hint_cap = one_of({5000ms, 120'000ms, 4999ms});
  made.least = one_of({0ms, 0ms, 500ms});
  made.budget = one_of({milliseconds{24h}, milliseconds{24h}, 0ms, 1ms, 1000ms, 3000ms, 7500ms});
  if (one_of({0, 0, 1}) == 1) made.deadline = one_of({0ms, 1000ms, 2500ms, 6000ms});
  if (one_of({0, 0, 1}) == 1) made.stop_at = one_of({0ms, 50ms, 100ms, 1000ms, 1100ms, 4000ms});
  return made;
}

/// Everything that can be seen of one call.
struct Story {
  std::string end;
  Durations waits;
  Duration took{};
  int attempts = 0;
  Recording events;
  std::string guards;
};

int play(FakeClock& clock, const Scenario& scenario, int& attempts) {
  const auto letter = scenario.script.at(static_cast<std::size_t>(attempts++));
  const auto text = std::string{letter} + std::to_string(attempts);
  clock.advance(scenario.attempt_takes);
  switch (letter) {
    case 's': throw Slow{text};
    case 't': throw Throttled{text, scenario.hint};
    case 'w': throw Wrong{text};
    case 'i': throw attempts;
    case 'n': return -attempts;
    default: return attempts;
  }
}

// ---- the model -----------------------------------------------------------------------------------------------------------

/// How a call ends by the rules of the contract, in the plainest words that say them.
struct Model {
  std::string_view retried;    // letters
  bool judges_values = false;  // is a negative number a failure?
  bool timed = false;          // budget, least attempt time and hint cap are given
  bool as_outcome = false;
  bool heeds_hints = true;

  Story of(const Scenario& scenario) const {
    Story told;
    auto now = 0ms;
    auto end = std::chrono::duration_cast<milliseconds>(1000h);
    if (timed) end = scenario.budget;
    if (scenario.deadline) end = std::min(end, *scenario.deadline);
    const auto limited = timed || scenario.deadline.has_value();
    const auto least = timed ? scenario.least : 0ms;
    const auto stopped = [&] { return scenario.stop_at && *scenario.stop_at <= now; };
    const auto done = [&](std::string_view reason, std::string_view last, bool strategy_answers) {
      told.took = now;
      if (!as_outcome)
        told.end = told.attempts == 0 ? "refused: " + std::string{reason} : std::string{last};
      else if (reason == "succeeded")
        told.end = "value " + std::string{last};
      else if (strategy_answers)
        told.end = std::string{reason} + " after " + std::to_string(told.attempts) + ": " + std::string{last};
      else
        told.end = std::string{last};
      return told;
    };

    if (stopped()) return done("cancelled_on_entry", "nothing", true);
    if (limited && end <= 0ms) return done("expired_on_entry", "nothing", true);
    for (auto delay = static_cast<double>(scenario.initial_delay.count());;
         delay *= scenario.factor > 0 ? scenario.factor : 1) {
      const auto letter = scenario.script.at(static_cast<std::size_t>(told.attempts++));
      now += scenario.attempt_takes;
      const auto ordinal = std::to_string(told.attempts);
      const auto last = letter == 'n'                    ? "-" + ordinal
                        : letter == 'r' || letter == 'i' ? ordinal
                                                         : letter + ordinal;
      if (letter == 'r' || (letter == 'n' && !judges_values)) return done("succeeded", last, false);
      if (retried.find(letter) == std::string_view::npos) return done("not_retryable", last, false);
      if (told.attempts > scenario.max_retries) return done("retries_exhausted", last, true);
      if (stopped()) return done("cancelled", last, true);
      const auto hinted = letter == 't' && heeds_hints;
      if (hinted && scenario.hint > (timed ? scenario.hint_cap : 120s))
        return done("hint_over_cap", last, true);
      const auto wait =
          hinted
              ? scenario.hint
              : milliseconds{std::llround(std::min(delay, static_cast<double>(scenario.max_delay.count())))};
      if (limited && wait >= end - now) return done(hinted ? "hint_past_deadline" : "deadline", last, true);
      if (limited && end - now - wait < least) return done("too_little_time_left", last, true);
      if (wait > 0ms) {
        const auto slept =
            scenario.stop_at && *scenario.stop_at <= now + wait ? *scenario.stop_at - now : wait;
        told.waits.push_back(slept);
        now += slept;
      }
      if (stopped()) return done("cancelled", last, true);
    }
  }
};

// ---- the ways ------------------------------------------------------------------------------------------------------------

enum class Way {
  run,
  run_with_attempt,
  far_deadline,
  any_policy,
  coroutine,
  coroutine_with_attempt,
  retrying,
  durable
};
constexpr Way every_way[] = {Way::run,       Way::run_with_attempt,       Way::far_deadline, Way::any_policy,
                             Way::coroutine, Way::coroutine_with_attempt, Way::retrying,     Way::durable};
constexpr std::string_view name_of(Way way) {
  constexpr std::string_view names[] = {"run",
                                        "run, taking its attempt",
                                        "run, with a far deadline",
                                        "any policy",
                                        "co_run",
                                        "co_run, taking its attempt",
                                        "Retrying",
                                        "DurableCall, restored in each wait"};
  return names[static_cast<std::size_t>(way)];
}

std::string end_of(int value) { return std::to_string(value); }
std::string end_of(const Outcome<int>& outcome) {
  if (outcome) return "value " + std::to_string(*outcome);
  auto text =
      std::string{to_string(outcome.reason())} + " after " + std::to_string(outcome.attempts()) + ": ";
  if (outcome.failure().error == nullptr) return text + "nothing";
  try {
    std::rethrow_exception(outcome.failure().error);
  } catch (const std::exception& error) {
    return text + error.what();
  } catch (int number) {
    return text + std::to_string(number);
  }
}

/// Asks the decision itself, and waits as somebody with a clock would.
template <class Policy>
class AskedCall {
 public:
  AskedCall(const Policy& policy, const Call& call) : policy_{policy}, call_{policy, call} {}
  auto& operator*() { return call_; }
  Decision pause(Duration wait) {
    if (wait > Duration::zero()) policy_.clock().sleep_for(wait, call_.call().stop);
    return call_.resume();
  }

 private:
  const Policy& policy_;
  Retrying<Policy> call_;
};

/// The same as in a job table: each wait is the end of one process and the beginning of another.
template <class Policy>
class SavedAndRestored {
 public:
  SavedAndRestored(const Policy& policy, const Call& call) : policy_{policy}, stop_{call.stop} {
    call_.emplace(policy, call);
  }
  auto& operator*() { return *call_; }
  Decision pause(Duration) {
    const auto text = call_->save();
    call_.reset();
    call_.emplace(policy_, SavedCall::read(text), IfPolicyChanged::refuse, stop_);
    const auto next = call_->next();
    if (!next.goes_on()) return next;
    if (next.wait > Duration::zero()) policy_.clock().sleep_for(next.wait, stop_);
    return call_->resume();
  }

 private:
  const Policy& policy_;
  StopView stop_;
  std::optional<DurableCall<Policy>> call_;
};

template <class Driver, class Policy, class Attempting>
std::string drive(const Policy& policy, const Call& its, const Attempting& attempt) {
  Driver driver{policy, its};
  std::exception_ptr error;
  std::optional<int> value;
  auto next = (*driver).begin();
  while (next.goes_on()) {
    error = nullptr;
    value.reset();
    try {
      value = attempt((*driver).attempt());
    } catch (...) {
      error = std::current_exception();
      next = (*driver).threw();
    }
    if (value) next = (*driver).returned(*value);
    if (next.goes_on()) next = driver.pause(next.wait);
  }
  if (next.wait > Duration::zero()) policy.clock().sleep_for(next.wait, its.stop);  // refused (H10)
  if (next.stop != StopReason::succeeded && !Policy::rethrows && (*driver).strategy_handles(next.stop)) {
    auto failure = (*driver).failure();
    failure.error = error;
    return end_of(Outcome<int>{std::move(failure)});
  }
  if (error != nullptr) std::rethrow_exception(error);
  if (!value) return "refused: " + std::string{to_string(next.stop)};
  return (Policy::rethrows ? "" : "value ") + end_of(*value);
}

/// Runs the scenario in one way. `make` makes the policy from the clock, the recorder and the scenario.
template <class Make>
Story story(Way way, const Scenario& scenario, const Make& make) {
  FakeClock clock;
  Recorder trace;
  CircuitBreaker breaker{{.failures_to_open = 3, .open_for = 2s}};
  const auto policy = make(clock, trace, breaker, scenario);
  using Policy = std::remove_const_t<decltype(policy)>;

  Story told;
  std::stop_source stop;
  const auto token = stop.get_token();
  Call call{.id = "call-1", .name = "tool"};
  if (scenario.deadline) call.deadline = TimePoint{*scenario.deadline};
  if (scenario.stop_at) {
    call.stop = token;
    if (*scenario.stop_at == 0ms)
      stop.request_stop();
    else
      clock.at(TimePoint{*scenario.stop_at}, [&] { stop.request_stop(); });
  }
  const auto attempt = [&] { return play(clock, scenario, told.attempts); };
  const auto with_attempt = [&](const Attempt& now) {
    CHECK(now.ordinal == told.attempts + 1);
    return attempt();
  };
  const auto task = [&]() -> Task<int> { co_return attempt(); };
  const auto task_with_attempt = [&](const Attempt& now) -> Task<int> { co_return with_attempt(now); };
  ManualExecutor executor{clock};

  try {
    switch (way) {
      case Way::run: told.end = end_of(policy.run(call, attempt)); break;
      case Way::run_with_attempt: told.end = end_of(policy.run(call, with_attempt)); break;
      case Way::far_deadline:
        if (!call.deadline) call.deadline = TimePoint{48h};
        told.end = end_of(policy.run(call, attempt));
        break;
      case Way::any_policy:
        told.end = end_of(AnyRetryPolicy<decltype(policy.run(call, attempt))>{policy}.run(call, attempt));
        break;
      case Way::coroutine:
        told.end = end_of(executor.run(co_run(policy, call, task, executor.sleeper())));
        break;
      case Way::coroutine_with_attempt:
        told.end = end_of(executor.run(co_run(policy, call, task_with_attempt, executor.sleeper())));
        break;
      case Way::retrying: told.end = drive<AskedCall<Policy>>(policy, call, with_attempt); break;
      case Way::durable: told.end = drive<SavedAndRestored<Policy>>(policy, call, with_attempt); break;
    }
  } catch (const Refused& refusal) {
    told.end = "refused: " + std::string{to_string(refusal.reason())};
  } catch (const std::exception& error) {
    told.end = error.what();
  } catch (int number) {
    told.end = std::to_string(number);
  }
  told.waits = clock.sleeps();
  told.took = clock.now().time_since_epoch();
  told.events = trace.events();
  told.guards = std::string{to_string(breaker.state(Now{clock}))};
  return told;
}

/// All ways of one scenario under one policy, beside each other and beside the model, if there is one.
template <class Make>
void compare(const Scenario& scenario, std::string_view policy, const Make& make, const Model* model) {
  using Policy = std::invoke_result_t<Make, FakeClock&, Recorder&, CircuitBreaker&, const Scenario&>;
  constexpr auto waits_when_refused =
      std::remove_cvref_t<decltype(policy_parts(std::declval<const Policy&>()))>::waits_when_refused;
  const auto first = story(Way::run, scenario, make);
  const auto same = [&](Way way, const Story& told, const Story& expected, bool all) {
    INFO(policy << ", " << name_of(way) << ": " << scenario.text());
    CHECK(told.end == expected.end);
    CHECK(told.attempts == expected.attempts);
    CHECK(told.waits == expected.waits);
    CHECK(told.took == expected.took);
    if (!all) return;
    CHECK(told.guards == expected.guards);
    // Whoever drives a call by hand that is refused waits after its end.
    if (waits_when_refused && (way == Way::retrying || way == Way::durable)) return;
    // A call that ends in a wait after a restart has no exception any more, and so no mode that would say so.
    if (way != Way::durable || !scenario.stop_at) CHECK(told.events == expected.events);
  };
  if (model != nullptr) same(Way::run, first, model->of(scenario), false);
  for (const auto way : every_way) {
    if (way == Way::run) continue;
    same(way, story(way, scenario, make), first, true);
  }
}

template <class T>
T from_environment(const char* name, T otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? static_cast<T>(std::strtoull(text, nullptr, 10)) : otherwise;
}

ExponentialBackoff backoff_of(const Scenario& scenario) {
  return {
      .initial_delay = scenario.initial_delay, .factor = scenario.factor, .max_delay = scenario.max_delay};
}

const auto plain = [](FakeClock& clock, Recorder&, CircuitBreaker&, const Scenario& scenario) {
  return RetryPolicy{clock, RetryOn<Slow>{}, MaxRetries{scenario.max_retries}, backoff_of(scenario),
                     NoJitter{}};
};
const auto values_in_time = [](FakeClock& clock, Recorder&, CircuitBreaker&, const Scenario& scenario) {
  return RetryPolicy{
      clock,      RetryIfResult{negative},     MaxRetries{scenario.max_retries}, backoff_of(scenario),
      NoJitter{}, TimeBudget{scenario.budget}, MinAttemptTime{scenario.least},   HintCap{scenario.hint_cap}};
};
const auto observed = [](FakeClock& clock, Recorder& trace, CircuitBreaker&, const Scenario& scenario) {
  return RetryPolicy{clock,
                     trace,
                     RetryOn<Slow, Throttled, int>{} || RetryIfResult{negative},
                     MaxRetries{scenario.max_retries},
                     backoff_of(scenario),
                     NoJitter{},
                     TimeBudget{scenario.budget},
                     MinAttemptTime{scenario.least},
                     HintCap{scenario.hint_cap}};
};
const auto outcomes = [](FakeClock& clock, Recorder&, CircuitBreaker&, const Scenario& scenario) {
  return RetryPolicy{clock,
                     RetryOnEveryException{},
                     NeverRetry<Wrong>{},
                     ReturnOutcome{},
                     MaxRetries{scenario.max_retries},
                     backoff_of(scenario),
                     NoJitter{},
                     TimeBudget{scenario.budget},
                     MinAttemptTime{scenario.least},
                     HintCap{scenario.hint_cap}};
};
const auto guarded = [](FakeClock& clock, Recorder& trace, CircuitBreaker& breaker,
                        const Scenario& scenario) {
  return RetryPolicy{clock,
                     trace,
                     breaker,
                     RetryOn<Slow, Throttled>{} || RetryIfResult{negative},
                     MaxRetries{scenario.max_retries},
                     backoff_of(scenario),
                     Seed{static_cast<std::uint64_t>(scenario.max_retries)},
                     ProportionalJitter{},
                     TimeBudget{scenario.budget}};
};
const auto waiting = [](FakeClock& clock, Recorder& trace, CircuitBreaker& breaker,
                        const Scenario& scenario) {
  return guarded(clock, trace, breaker, scenario).with(WaitWhenRefused{}, ReturnOutcome{});
};
const auto refused = [](FakeClock& clock, Recorder& trace, CircuitBreaker& breaker,
                        const Scenario& scenario) {
  breaker.force_open();
  return guarded(clock, trace, breaker, scenario).with(WaitWhenRefused{});
};

}  // namespace

TEST_CASE(
    "every way of running a call ends it alike, as the model predicts [A1 A2 A3 A4 A7 B3 C1 C6 D3 D4 D5 E2 "
    "F1 G1 G2 G4 K1 K2]",
    "[every_way]") {
  const auto scenarios = from_environment("ENCORE_SCENARIOS", 1500);
  std::mt19937_64 random{from_environment<std::uint64_t>("ENCORE_SEED", 20261201)};
  for (auto i = 0; i < scenarios; ++i) {
    const auto scenario = random_scenario(random);
    constexpr Model of_plain{.retried = "s"};
    compare(scenario, "plain", plain, &of_plain);
    constexpr Model of_values{.retried = "n", .judges_values = true, .timed = true};
    compare(scenario, "values in time", values_in_time, &of_values);
    constexpr Model of_observed{.retried = "stin", .judges_values = true, .timed = true};
    compare(scenario, "observed", observed, &of_observed);
    constexpr Model of_outcomes{.retried = "sti", .timed = true, .as_outcome = true, .heeds_hints = false};
    compare(scenario, "outcomes", outcomes, &of_outcomes);
    compare(scenario, "guarded", guarded, nullptr);
    compare(scenario, "waiting", waiting, nullptr);
    compare(scenario, "refused", refused, nullptr);
  }
}

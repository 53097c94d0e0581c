// The rows of tests/data/attempts.csv, to be run by any driver: one that sleeps, a coroutine, a timer queue.
#pragma once
#include "csv.hpp"
#include <encore/backoff.hpp>
#include <encore/call.hpp>
#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace encore_tests {

/// Every error of the table knows in which attempt it was thrown, so that a rethrow can be told from any other throw.
struct ScriptError : std::exception {
  explicit ScriptError(int thrown_by) : attempt{thrown_by} {}
  virtual std::string name() const = 0;
  int attempt;
};
struct ValueError : ScriptError {
  using ScriptError::ScriptError;
  std::string name() const override { return "ValueError"; }
};
struct RuntimeError : ScriptError {
  using ScriptError::ScriptError;
  std::string name() const override { return "RuntimeError"; }
};
struct TimeoutError : ScriptError {
  using ScriptError::ScriptError;
  std::string name() const override { return "TimeoutError"; }
};
struct ConnectionError : ScriptError {
  using ScriptError::ScriptError;
  std::string name() const override { return "ConnectionError"; }
};
struct AnyError : ScriptError {
  using ScriptError::ScriptError;
  std::string name() const override { return ""; }
};
struct FlaggedError : ScriptError {
  FlaggedError(int thrown_by, bool again) : ScriptError{thrown_by}, retry_me{again} {}
  std::string name() const override { return retry_me ? "retry_me=true" : "retry_me=false"; }
  bool retry_me;
};
struct ControlFlow : ScriptError {
  using ScriptError::ScriptError;
  std::string name() const override { return "CONTROL"; }
};

/// A script of the table as a callable: "F(ValueError) F S", "CONTROL", "F*". It counts the attempts that were made.
class Script {
 public:
  explicit Script(const std::string& text) {
    std::istringstream words{text};
    for (std::string word; words >> word;) {
      if (word.back() == '*') for_ever_ = true, word.pop_back();
      steps_.push_back(word);
    }
    if (steps_.empty()) throw std::runtime_error{"this row has no script"};
  }

  std::string operator()() {
    const auto next = static_cast<std::size_t>(attempts_++);
    if (next >= steps_.size() && !for_ever_)
      throw std::logic_error{"the script is over, and yet another attempt was made"};
    return play(steps_[std::min(next, steps_.size() - 1)]);
  }
  int attempts() const { return attempts_; }

 private:
  std::string play(const std::string& step) const {
    if (step == "S") return "ok";
    if (step == "F") throw AnyError{attempts_};
    if (step == "F(ValueError)") throw ValueError{attempts_};
    if (step == "F(RuntimeError)") throw RuntimeError{attempts_};
    if (step == "F(TimeoutError)") throw TimeoutError{attempts_};
    if (step == "F(ConnectionError)") throw ConnectionError{attempts_};
    if (step == "F(retry_me=true)") throw FlaggedError{attempts_, true};
    if (step == "F(retry_me=false)") throw FlaggedError{attempts_, false};
    if (step == "CONTROL") throw ControlFlow{attempts_};
    throw std::logic_error{"unknown step in a script: " + step};
  }

  std::vector<std::string> steps_;
  bool for_ever_ = false;
  int attempts_ = 0;
};

/// What the columns attempts, terminal and waits_s say, in their own spelling.
struct Told {
  int attempts = 0;
  std::string terminal;
  encore::testing::Durations waits;
  friend bool operator==(const Told&, const Told&) = default;
  template <class Stream>
  friend Stream& operator<<(Stream& out, const Told& told) {
    out << told.attempts << " attempts, " << told.terminal << ", waits " << told.waits;
    return out;
  }
};

inline Told expected_of(const Row& row) {
  Told told{row.whole("attempts"), row.text("terminal"), {}};
  std::istringstream waits{row.text("waits_s")};
  for (double seconds = 0; waits >> seconds;)
    told.waits.push_back(encore::Duration{std::llround(seconds * 1e9)});
  return told;
}

namespace row_parts {

template <class Use>
void with_predicate(const std::string& name, Use&& use) {
  if (name == "any") return use(encore::RetryOnEveryException{});
  if (name == "ValueError") return use(encore::RetryOn<ValueError>{});
  if (name == "TimeoutError") return use(encore::RetryOn<TimeoutError>{});
  if (name == "ConnectionError") return use(encore::RetryOn<ConnectionError>{});
  if (name == "retry_me")
    return use(encore::RetryIf{[](const FlaggedError& error) { return error.retry_me; }});
  throw std::runtime_error{"unknown predicate: " + name};
}

template <class Use>
void with_strategy(const std::string& name, Use&& use) {
  if (name == "rethrow") return use(encore::Rethrow{});
  if (name == "format")
    return use(encore::FormatFailure{[](const encore::Failure&) { return "error_result"; }});
  throw std::runtime_error{"unknown strategy: " + name};
}

}  // namespace row_parts

/// Runs a row on fake time. `drive(policy, call, callable)` makes the call, by whatever driver, and gives or throws what
/// `policy.run(call, callable)` would.
template <class Drive>
Told told_by(Drive&& drive, const Row& row) {
  using Seconds = std::chrono::duration<double>;
  Told told;
  Script script{row.text("script")};
  encore::testing::FakeClock clock;
  const auto run = [&](const auto& predicate, const auto& strategy) {
    const encore::RetryPolicy policy{
        clock,
        predicate,
        strategy,
        encore::NeverRetry<ControlFlow>{},
        encore::NoJitter{},
        encore::MaxRetries{row.whole("max_retries")},
        encore::ExponentialBackoff{.initial_delay = Seconds{row.number("initial_s")},
                                   .factor = row.number("factor"),
                                   .max_delay = Seconds{row.number("max_s")}}};
    try {
      told.terminal = drive(policy, encore::Call{.id = row.text("id"), .name = "row"}, script);
    } catch (const ScriptError& error) {
      told.terminal = error.name().empty() ? "rethrow" : "rethrow(" + error.name() + ")";
      if (error.attempt != script.attempts()) told.terminal += ", and not the last attempt's";
    }
  };
  row_parts::with_predicate(row.text("retry_on"), [&](const auto& predicate) {
    row_parts::with_strategy(row.text("strategy"), [&](const auto& strategy) { run(predicate, strategy); });
  });
  told.attempts = script.attempts();
  told.waits = clock.sleeps();
  return told;
}

/// Runs every row so, and compares all that the caller sees of it with what the row says.
template <class Drive>
void check_attempts(const Drive& drive) {
  for (const auto& row : rows_of("attempts.csv")) {
    INFO(row.where());
    CHECK(told_by(drive, row) == expected_of(row));
  }
}

}  // namespace encore_tests

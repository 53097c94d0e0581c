#include "asio_like_category.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/retry_on_error_code.hpp>
#include <encore/retrying.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/task.hpp>
#include <encore/unretryable.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <chrono>
#include <concepts>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>

using namespace encore;
using namespace std::chrono_literals;

namespace {

struct Plain : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct QuotaSpent : Unretryable {
  using Unretryable::Unretryable;
};
/// Two bases that are `std::exception`: no handler for `std::exception` catches it.
struct Ambiguous : Plain, QuotaSpent {
  Ambiguous() : Plain{"plain"}, QuotaSpent{"quota"} {}
};

template <class Error>
int attempts_of(const Error& thrown) {
  auto attempts = 0;
  const RetryPolicy policy{RetryOnEveryException{}, MaxRetries{2}, ConstantBackoff{Duration::zero()}};
  try {
    policy.run([&] {
      ++attempts;
      throw thrown;
    });
  } catch (...) {}
  return attempts;
}

}  // namespace

TEST_CASE("permanent errors and cancellations are never retried, whatever the filter says [B4]",
          "[unretryable]") {
  CHECK(attempts_of(Plain{"slow"}) == 3);
  CHECK(attempts_of(QuotaSpent{"quota"}) == 1);
  CHECK(attempts_of(Cancelled{}) == 1);
  CHECK(attempts_of(std::system_error{std::make_error_code(std::errc::operation_canceled)}) == 1);
  CHECK(attempts_of(std::system_error{std::make_error_code(std::errc::timed_out)}) == 3);
  CHECK(attempts_of(std::filesystem::filesystem_error{
            "f", std::make_error_code(std::errc::operation_canceled)}) == 1);
  CHECK(attempts_of(std::system_error{ECANCELED, encore_tests::asio_like}) == 1);
  CHECK(attempts_of(std::system_error{ETIMEDOUT, encore_tests::asio_like}) == 3);
  CHECK(attempts_of(Ambiguous{}) == 1);
  CHECK(attempts_of(17) == 3);
}

TEST_CASE("a returned error code that means cancelled is never retried, whatever the filter says [B4 B8]",
          "[unretryable]") {
  const RetryPolicy policy{RetryIfResult{[](const std::error_code& code) { return code.value() != 0; }},
                           MaxRetries{2}, ConstantBackoff{Duration::zero()}};
  const auto attempts_of_code = [&](const std::error_code& code) {
    auto attempts = 0;
    CHECK(policy.run([&] { return ++attempts, code; }) == code);
    return attempts;
  };
  CHECK(attempts_of_code({ECANCELED, encore_tests::asio_like}) == 1);
  CHECK(attempts_of_code(std::make_error_code(std::errc::operation_canceled)) == 1);
  CHECK(attempts_of_code(std::make_error_code(std::errc::timed_out)) == 3);
}

// ---- operation_canceled: a cancellation, or a failure like any other (B4) -----------------------------------------------

namespace {

const auto cancelled_code = std::make_error_code(std::errc::operation_canceled);

/// An operation that is cancelled after some time; a stop may be requested meanwhile.
struct CancelledAfter {
  Duration takes;
  bool stopped = false;
  std::error_code code = cancelled_code;
};

// How many attempts a policy makes of it: thrown and returned, on a thread, in a coroutine and driven by hand.
template <class... Option>
int attempts_of(const CancelledAfter& operation, const Option&... options) {
  const auto in_each_way = [&](auto attempt, const auto& filter) {
    testing::FakeClock clock;
    const RetryPolicy policy{clock, filter, NoJitter{}, options...};
    auto attempts = 0;
    std::optional<std::stop_source> source;
    std::stop_token token;
    const auto once = [&] {
      ++attempts;
      clock.advance(operation.takes);
      if (operation.stopped) source->request_stop();
      return attempt();
    };
    const auto counted = [&](auto run) {
      attempts = 0;
      token = source.emplace().get_token();
      try {
        run();
      } catch (const std::system_error&) {}
      return attempts;
    };
    const auto on_a_thread = counted([&] { static_cast<void>(policy.run({.stop = token}, once)); });
    CHECK(counted([&] {
            testing::ManualExecutor executor{clock};
            const auto operation_task = [&]() -> testing::Task<std::error_code> { co_return once(); };
            static_cast<void>(
                executor.run(co_run(policy, {.stop = token}, operation_task, executor.sleeper())));
          }) == on_a_thread);
    CHECK(counted([&] {
            Retrying retrying{policy, {.stop = token}};
            for (auto next = retrying.begin(); next.goes_on();) {
              try {
                next = retrying.returned(once());
              } catch (const std::system_error& error) {
                next = retrying.threw(&error);
              }
              if (!next.goes_on()) break;
              clock.advance(next.wait);
              next = retrying.resume();
            }
          }) == on_a_thread);
    if (!operation.stopped) CHECK(counted([&] { static_cast<void>(policy.run(once)); }) == on_a_thread);
    return on_a_thread;
  };
  const auto raise = [&]() -> std::error_code { throw std::system_error{operation.code}; };
  const auto give = [&] { return operation.code; };
  const auto thrown = in_each_way(raise, RetryOn<std::system_error>{});
  CHECK(in_each_way(raise, RetryOnEveryException{}) == thrown);
  CHECK(in_each_way(give, RetryIf{[](const std::error_code& code) { return bool{code}; }}) == thrown);
  return thrown;
}

}  // namespace

// Found as attempt_timeout_that_cancels_is_retried.
TEST_CASE(
    "an attempt that its own limit cancelled is an ordinary failure [B4, D6] (fault 46: Polly #1584, corefx "
    "#29748)",
    "[unretryable]") {
  CHECK(attempts_of({2s}, AttemptTimeout{2s}) == 3);
  CHECK(attempts_of({3s}, AttemptTimeout{2s}) == 3);
  CHECK(attempts_of({.takes = 2s, .code = {ECANCELED, encore_tests::asio_like}}, AttemptTimeout{2s}) == 3);
  CHECK(attempts_of({1s}, AttemptTimeout{2s}) == 1);  // nobody can tell why
  CHECK(attempts_of({2s}) == 1);
  CHECK(attempts_of({.takes = 2s, .stopped = true}, AttemptTimeout{2s}) == 1);
}

TEST_CASE(
    "an attempt that is cancelled when the whole call's time is up ends the call by its deadline [B4, D3]",
    "[unretryable]") {
  testing::FakeClock clock;
  const RetryPolicy policy{clock, RetryOnEveryException{}, TimeBudget{5s}, ReturnOutcome{}};
  const auto reason_after = [&](Duration time) {
    return policy
        .run([&] {
          clock.advance(time);
          throw std::system_error{cancelled_code};
        })
        .reason();
  };
  CHECK(reason_after(5s) == StopReason::deadline);
  CHECK_THROWS_AS(reason_after(4s), std::system_error);
}

TEST_CASE(
    "an attempt that its own limit cancelled counts as a failure, one that the caller cancelled does not "
    "[B4, H3]",
    "[unretryable]") {
  testing::FakeClock clock;
  const Now now{clock};
  const auto opened_by = [&](Duration time, const auto& filter) {
    CircuitBreaker breaker{{.failures_to_open = 1, .count_permanent_failures = true}};
    const RetryPolicy policy{clock, filter, breaker, AttemptTimeout{2s}, MaxRetries{0}};
    CHECK_THROWS_AS(policy.run([&] {
      clock.advance(time);
      throw std::system_error{cancelled_code};
    }),
                    std::system_error);
    return breaker.state(now) == CircuitState::open;
  };
  CHECK(opened_by(2s, RetryOnEveryException{}));
  CHECK(opened_by(2s, RetryOn<Plain>{}));
  CHECK(!opened_by(1s, RetryOnEveryException{}));
  CHECK(!opened_by(1s, RetryOn<Plain>{}));
}

// Found as operation_canceled_named_by_the_filter.
TEST_CASE("a filter that names operation_canceled matches it, unless the call was asked to stop [B4]",
          "[unretryable]") {
  const auto attempts_by = [](const auto& filter, auto fail) {
    auto attempts = 0;
    const RetryPolicy policy{filter, ConstantBackoff{Duration::zero()}};
    std::stop_source source;
    const auto token = source.get_token();
    try {
      static_cast<void>(policy.run({.stop = token}, [&] { return ++attempts, fail(source); }));
    } catch (const std::system_error&) {}
    return attempts;
  };
  const auto thrown = [](auto&) -> std::error_code { throw std::system_error{cancelled_code}; };
  const auto returned = [](auto&) { return cancelled_code; };
  const auto stopped = [](std::stop_source& source) -> std::error_code {
    source.request_stop();
    throw std::system_error{cancelled_code};
  };
  const RetryOnErrorCode named{std::errc::operation_canceled, std::errc::timed_out};
  CHECK(attempts_by(named, thrown) == 3);
  CHECK(attempts_by(named, returned) == 3);
  CHECK(attempts_by(named, stopped) == 1);
  CHECK(attempts_by(RetryOnErrorCode{cancelled_code}, thrown) == 3);
  CHECK(attempts_by(RetryOnErrorCode{std::error_code{ECANCELED, encore_tests::asio_like}},
                    [](auto&) { return std::error_code{ECANCELED, encore_tests::asio_like}; }) == 3);
  CHECK(attempts_by(RetryOn<std::runtime_error>{} || named, thrown) == 3);
  CHECK(attempts_by(RetryOn<std::runtime_error>{} && named, thrown) == 3);
  // Asked to stop, it is a cancellation, for which no failure strategy answers, whatever the filter names or the limit says.
  const RetryPolicy answered{named, AttemptTimeout{0s}, ReturnOutcome{}};
  std::stop_source source;
  const auto token = source.get_token();
  CHECK_THROWS_AS(answered.run({.stop = token}, [&]() -> int { return stopped(source).value(); }),
                  std::system_error);
  // These match it, and do not name it.
  CHECK(attempts_by(!RetryOnErrorCode{std::errc::timed_out}, thrown) == 1);
  CHECK(attempts_by(RetryOn<std::system_error>{} || RetryOnErrorCode{std::errc::timed_out}, thrown) == 1);
  CHECK(attempts_by(RetryIf{[](const std::system_error& error) { return error.code() == cancelled_code; }},
                    thrown) == 1);
}

TEST_CASE("only cancellations among what is never retried end a wait with the call's last failure [B4 K1]",
          "[unretryable]") {
  const auto ends_with_the_last_failure = [](const auto& thrown_by_the_wait) {
    const auto sleeper = [&](Duration) -> testing::Task<void> {
      throw thrown_by_the_wait;
      co_return;
    };
    const auto fails = []() -> testing::Task<int> {
      throw Plain{"the last failure"};
      co_return 0;
    };
    const RetryPolicy policy{RetryOn<Plain>{}};
    auto task = co_run(policy, fails, sleeper);
    task.start();
    REQUIRE(task.done());
    try {
      task.result();
    } catch (const Plain&) {
      return true;
    } catch (const std::exception&) {}
    return false;
  };
  CHECK(ends_with_the_last_failure(Cancelled{}));
  CHECK(ends_with_the_last_failure(std::system_error{std::make_error_code(std::errc::operation_canceled)}));
  CHECK(!ends_with_the_last_failure(QuotaSpent{"quota"}));
  CHECK(!ends_with_the_last_failure(std::system_error{std::make_error_code(std::errc::timed_out)}));
}

TEST_CASE("an unretryable exception is recognized in any handler [B4]", "[unretryable]") {
  CHECK(attempts_of(Cancelled{}) == 1);
  CHECK(attempts_of(Ambiguous{}) == 1);
  CHECK(attempts_of(Plain{"slow"}) == 3);
  CHECK(attempts_of(std::string{"no exception class at all"}) == 3);
}

TEST_CASE("a filter that matches by another base does not make a permanent error retryable [B2 B4]",
          "[unretryable]") {
  auto attempts = 0;
  const RetryPolicy policy{RetryOn<Plain>{}, ConstantBackoff{Duration::zero()}};
  CHECK_THROWS_AS(policy.run([&] {
    ++attempts;
    throw Ambiguous{};
  }),
                  Ambiguous);
  CHECK(attempts == 1);
}

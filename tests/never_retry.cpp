#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/refused.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::NeverRetry, encore::NeverRetryIf, encore::RetryOnEveryException, encore::RetryPolicy,
    encore::StopReason;

namespace {

struct Interrupt : encore::Unretryable {
  Interrupt() : Unretryable{"the agent waits for a person"} {}
};
struct CancelledByUser : encore::Cancelled {};
// Each by two std::exception bases, so that no handler for std::exception catches it.
struct Timeout : std::exception {};
struct PermanentTimeout : Timeout, encore::Unretryable {
  PermanentTimeout() : Unretryable{"for good"} {}
};

struct Left {
  int attempts = 0;
  StopReason reason = StopReason::none;
  friend bool operator==(const Left&, const Left&) = default;
};
constexpr Left at_once{1, StopReason::never_retry_type};
constexpr Left exhausted{3, StopReason::retries_exhausted};

template <class F, class... More>
Left left(F fail, const More&... more) {
  FakeClock clock;
  Recorder trace;
  Left how;
  const RetryPolicy policy{clock, trace, more...};
  try {
    static_cast<void>(policy.run([&] {
      ++how.attempts;
      return fail();
    }));
  } catch (...) {}
  how.reason = trace.events().back().reason;
  return how;
}
template <class E>
auto raise(E error) {
  return [error]() -> int { throw error; };
}
const RetryOnEveryException every;

TEST_CASE("cancellation is never retried, whatever the filter says (fault 29: tenacity #529) [B4]",
          "[never_retry]") {
  CHECK(left(raise(encore::Cancelled{}), every) == at_once);
  CHECK(left(raise(CancelledByUser{}), every) == at_once);
  CHECK(left(raise(encore::Cancelled{}), encore::RetryOn<encore::Cancelled, int>{}) == at_once);
  CHECK(left(raise(encore::Cancelled{}), encore::RetryOn<std::exception>{}) == at_once);
  CHECK(left(raise(encore::Cancelled{}), every, encore::ReturnOutcome{}) == at_once);
  const auto with_code = [](std::errc code) { return raise(std::system_error{std::make_error_code(code)}); };
  CHECK(left(with_code(std::errc::operation_canceled), every) == at_once);
  CHECK(left(with_code(std::errc::operation_canceled), encore::RetryOn<std::system_error>{}) == at_once);
  CHECK(left(with_code(std::errc::timed_out), every) == exhausted);
  CHECK(left(raise(std::system_error{ECANCELED, std::system_category()}), every) == at_once);
}

TEST_CASE("a cancellation that is returned is not retried either (fault 29: tenacity #529) [B4, B8]",
          "[never_retry]") {
  struct Result {  // as std::expected<int, std::error_code>
    std::errc code;
    bool has_value() const { return false; }
    std::error_code error() const { return std::make_error_code(code); }
  };
  const encore::RetryIfResult code{
      [](const std::error_code& returned) { return static_cast<bool>(returned); }};
  const auto return_code = [](std::errc returned) { return [=] { return std::make_error_code(returned); }; };
  CHECK(left(return_code(std::errc::operation_canceled), code) == at_once);
  CHECK(left([] { return std::error_code{ECANCELED, std::system_category()}; }, code) == at_once);
  CHECK(left(return_code(std::errc::timed_out), code) == exhausted);
  CHECK(left([] { return std::errc::operation_canceled; },
             encore::RetryIfResult{[](std::errc) { return true; }}) == at_once);
  const auto return_result = [](std::errc returned) { return [=] { return Result{returned}; }; };
  CHECK(left(return_result(std::errc::operation_canceled), encore::RetryIfNoValue{}) == at_once);
  CHECK(left(return_result(std::errc::timed_out), encore::RetryIfNoValue{}) == exhausted);

  // An inner call whose wait was cancelled: the last failure is a timeout, but nobody wants another attempt.
  FakeClock clock;
  std::stop_source source;
  clock.after(500ms, [&] { source.request_stop(); });
  const auto token = source.get_token();
  const RetryPolicy inner{clock, every, encore::NoJitter{}, encore::ReturnOutcome{}};
  CHECK(left([&] { return inner.run({.stop = token}, raise(Timeout{})); }, encore::RetryIfNoValue{}) ==
        at_once);
}

TEST_CASE("types marked as unretryable are never retried (fault 25: langchain #38722) [B4]",
          "[never_retry]") {
  CHECK(left(raise(Interrupt{}), every) == at_once);
  CHECK(left(raise(Interrupt{}), encore::RetryOn<std::runtime_error>{}) == at_once);
  CHECK(left(raise(PermanentTimeout{}), every) == at_once);
  CHECK(left(raise(PermanentTimeout{}), encore::RetryOn<Timeout>{}) == at_once);
  CHECK(left(raise(PermanentTimeout{}), encore::RetryOn<std::logic_error, encore::Unretryable>{}) == at_once);
}

TEST_CASE(
    "a type that derives from a listed one and is unretryable by another base is not retried, without "
    "observers too [B4, B2]",
    "[never_retry]") {
  struct TimeoutError : std::exception {};
  struct Permanent : TimeoutError, encore::Unretryable {
    Permanent() : Unretryable{"for good"} {}
  };
  struct CancelledTimeout : TimeoutError, std::system_error {
    CancelledTimeout() : std::system_error{std::make_error_code(std::errc::operation_canceled)} {}
  };
  struct TimedOut : TimeoutError, std::system_error {
    TimedOut() : std::system_error{std::make_error_code(std::errc::timed_out)} {}
  };
  FakeClock clock;
  const auto attempts_of = [&](auto error, const auto& policy) {
    int attempts = 0;
    try {
      policy.run([&] {
        ++attempts;
        throw error;
      });
    } catch (const TimeoutError&) {}
    return attempts;
  };
  const auto check = [&](const auto& policy) {
    CHECK(attempts_of(TimeoutError{}, policy) == 3);
    CHECK(attempts_of(TimedOut{}, policy) == 3);
    CHECK(attempts_of(Permanent{}, policy) == 1);
    CHECK(attempts_of(CancelledTimeout{}, policy) == 1);
  };
  const RetryPolicy policy{clock, encore::RetryOn<TimeoutError>{}};
  check(policy);
  check(policy.with(encore::Observe{[](const encore::Event&) {}}));
  check(policy.with(encore::TimeBudget{24h}, encore::MaxRetries{2}));
  check(policy.with(encore::RetryOn<TimeoutError, int>{}));
}

TEST_CASE("a refusal of an inner policy is never retried: thrown, or as an outcome [B4, G4]",
          "[never_retry]") {
  FakeClock clock;
  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  const RetryPolicy inner{clock, every};
  CHECK(left([&] { return inner.run({.stop = token}, [] { return 1; }); }, every) == at_once);
  CHECK(left([&] { return inner.run({.deadline = encore::TimePoint{}}, [] { return 1; }); },
             encore::RetryOn<std::runtime_error>{}) == at_once);

  const auto outcome = inner.with(encore::ReturnOutcome{});
  CHECK(left([&] { return outcome.run({.stop = token}, [] { return 1; }); }, encore::RetryIfNoValue{}) ==
        at_once);
  const auto failed = [&] { return outcome.run([]() -> int { throw std::runtime_error{"down"}; }); };
  CHECK(left(failed, encore::RetryIfNoValue{}) == exhausted);
}

TEST_CASE("types on the policy's never-list take precedence over its filter [B4]", "[never_retry]") {
  const NeverRetry<std::bad_alloc, std::logic_error> never;
  CHECK(left(raise(std::bad_alloc{}), every, never) == at_once);
  CHECK(left(raise(std::invalid_argument{"derived"}), every, never) == at_once);
  CHECK(left(raise(std::runtime_error{"other"}), every, never) == exhausted);
  CHECK(left(raise(42), every, NeverRetry<int>{}) == at_once);
  // Lists add up.
  CHECK(left(raise(42), every, never, NeverRetry<int>{}) == at_once);
  CHECK(left(raise(std::bad_alloc{}), every, never, NeverRetry<int>{}) == at_once);
  CHECK(left(raise(42), encore::RetryOn<std::exception>{}, never) == Left{1, StopReason::not_retryable});
}

struct Response {
  int status = 200;
  std::string code{};
};

TEST_CASE(
    "a test on the whole failure rejects a 429 for an exhausted quota where one for rate limiting is retried "
    "[B8]",
    "[never_retry]") {
  const encore::RetryIfResult throttled{[](const Response& response) { return response.status == 429; }};
  const NeverRetryIf no_quota{[](const Response& response) { return response.code == "insufficient_quota"; }};
  const auto gives = [](const char* code) { return [code] { return Response{429, code}; }; };
  CHECK(left(gives("rate_limited"), throttled, no_quota) == exhausted);
  CHECK(left(gives("insufficient_quota"), throttled, no_quota) == at_once);

  struct HttpError : std::runtime_error {
    HttpError(int s, std::string c) : std::runtime_error{"http"}, status{s}, code{std::move(c)} {}
    int status;
    std::string code;
  };
  const NeverRetryIf thrown{[](const HttpError& error) { return error.code == "insufficient_quota"; }};
  CHECK(left(raise(HttpError{429, "rate_limited"}), every, thrown) == exhausted);
  CHECK(left(raise(HttpError{429, "insufficient_quota"}), every, thrown) == at_once);
  CHECK(left(raise(std::runtime_error{"other"}), every, thrown) == exhausted);
  CHECK(left(raise(42), every,
             NeverRetryIf{[](const encore::Thrown& failure) { return failure.is<int>(); }}) == at_once);
}

TEST_CASE("a never-test on values does not apply to exceptions, and the reverse [B4, B8]", "[never_retry]") {
  const NeverRetryIf on_values{[](const Response&) { return true; }};
  CHECK(left(raise(42), every, on_values) == exhausted);
  const NeverRetryIf on_errors{[](const std::runtime_error&) { return true; }};
  CHECK(left([] { return Response{429}; },
             encore::RetryIfResult{[](const Response& r) { return r.status == 429; }},
             on_errors) == exhausted);
}

TEST_CASE("a never-test that throws stops the call as a predicate that throws does [B7]", "[never_retry]") {
  const NeverRetryIf throwing{[](const std::runtime_error&) -> bool { throw 42; }};
  CHECK(left(raise(std::runtime_error{"down"}), every, throwing) == Left{1, StopReason::predicate_threw});
  CHECK_THROWS_AS((RetryPolicy{every, throwing}.run(raise(std::runtime_error{"down"}))), std::runtime_error);
}

}  // namespace

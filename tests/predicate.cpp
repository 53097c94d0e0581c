#include "attempts_of.hpp"
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_on_nested.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using namespace told;
using encore::Returned, encore::RetryIf, encore::RetryIfResult, encore::RetryOn, encore::RetryPolicy;
using encore::StopReason, encore::Thrown;

namespace {

struct ConnectionError : TransportError {};
struct PlainError {
  int code = 5;
};
struct Twice1 : std::exception {};
struct Twice2 : std::exception {};
struct Twice : Twice1, Twice2 {};
struct Failed : virtual std::exception {};
struct FailedToSend : Failed {};
struct FailedToRead : Failed {};
struct FailedToBoth : FailedToSend, FailedToRead {};  // one std::exception, and two of Failed

static_assert(encore::Predicate<RetryOn<int>> && encore::Predicate<encore::RetryOnEveryException>);
static_assert(encore::JudgesExceptions<RetryOn<int>> && !encore::JudgesValues<RetryOn<int>, int>);

// ---- types (B2) --------------------------------------------------------------------------------------------------------

TEST_CASE(
    "a listed type matches what derives from it, and nothing else (fault 26: Shield; langchain-js #11318) "
    "[B2]",
    "[predicate]") {
  const RetryOn<TransportError> transport;
  CHECK(attempts_of(transport, raise(TransportError{})) == 3);
  CHECK(attempts_of(transport, raise(TimeoutError{})) == 3);
  CHECK(attempts_of(RetryOn<TimeoutError>{}, raise(TransportError{})) == 1);
  CHECK(attempts_of(transport, raise(std::runtime_error{"its base"})) == 1);
  CHECK(attempts_of(RetryOn<std::exception>{}, raise(TimeoutError{})) == 3);
  CHECK(attempts_of(RetryOn<std::logic_error, std::bad_alloc, TransportError>{}, raise(TimeoutError{})) == 3);
}

TEST_CASE("RetryOn of a base and other types matches what any of them would, joined with || too [B2]",
          "[predicate]") {
  struct Hinted : TransportError {
    std::chrono::seconds retry_after() const { return 7s; }
  };
  const auto either = RetryOn<TimeoutError>{} || RetryOn<TransportError>{};
  CHECK(attempts_of(either, raise(ConnectionError{})) == 3);
  CHECK(attempts_of(either, raise(TimeoutError{})) == 3);
  CHECK(attempts_of(either, raise(std::runtime_error{"their base"})) == 1);
  CHECK(attempts_of(RetryOn<TransportError, Hinted>{}, raise(ConnectionError{})) == 3);
  CHECK(attempts_of(RetryOn<TransportError, Hinted>{}, raise(Hinted{})) == 3);
  CHECK(attempts_of(RetryOn<Hinted, TransportError>{}, raise(TransportError{})) == 3);
  // Where a handler of the base would not do, that of the other one still does.
  CHECK(attempts_of(RetryOn<Failed>{}, raise(FailedToBoth{})) == 1);
  CHECK(attempts_of(RetryOn<Failed>{} || RetryOn<FailedToSend>{}, raise(FailedToBoth{})) == 3);
  CHECK(attempts_of(RetryOn<FailedToSend>{} || RetryOn<Failed>{}, raise(FailedToBoth{})) == 3);
  CHECK(attempts_of(RetryOn<FailedToSend>{} || RetryOn<Failed>{}, raise(FailedToRead{})) == 3);
}

TEST_CASE(
    "listed types that do not derive from std::exception, or derive from it twice, match by the slower path "
    "[B2]",
    "[predicate]") {
  CHECK(attempts_of(RetryOn<int>{}, raise(42)) == 3);
  CHECK(attempts_of(RetryOn<int>{}, raise(42L)) == 1);
  CHECK(attempts_of(RetryOn<const char*>{}, raise(static_cast<const char*>("text"))) == 3);
  CHECK(attempts_of(RetryOn<PlainError>{}, raise(PlainError{})) == 3);
  CHECK(attempts_of(RetryOn<Twice>{}, raise(Twice{})) == 3);
  CHECK(attempts_of(RetryOn<Twice2>{}, raise(Twice{})) == 3);
  CHECK(attempts_of(RetryOn<std::exception>{}, raise(Twice{})) == 1);  // no handler of it would catch this
  CHECK(attempts_of(RetryOn<std::exception>{}, raise(42)) == 1);
  CHECK(attempts_of(RetryOn<TransportError, int>{}, raise(42)) == 3);
}

TEST_CASE("an exception or a result with an operator& of its own is judged like any other [B2]",
          "[predicate]") {
  struct NoAddress : std::runtime_error {
    using std::runtime_error::runtime_error;
    void operator&() const = delete;
  };
  struct Number {
    int value;
    void operator&() const = delete;
  };
  encore::testing::FakeClock clock;
  const auto attempts_under = [&](auto predicate) {
    auto attempts = 0;
    const auto fail = [&]() -> Number {
      ++attempts;
      throw NoAddress{"x"};
    };
    const auto outcome = encore::RetryPolicy{predicate, clock, encore::ReturnOutcome{}}.run(fail);
    CHECK(outcome.failure().error != nullptr);
    CHECK_THROWS_AS((encore::RetryPolicy{predicate, clock}.run([]() -> int { throw NoAddress{"x"}; })),
                    NoAddress);
    return attempts;
  };
  CHECK(attempts_under(encore::RetryOn<NoAddress>{}) == 3);
  CHECK(attempts_under(encore::RetryOn<NoAddress, std::bad_alloc>{}) == 3);
  CHECK(attempts_under(encore::RetryIf{[](const NoAddress&) { return true; }}) == 3);
  CHECK(attempts_under(encore::AlsoNested{encore::RetryOn<NoAddress>{}}) == 3);

  const auto returned =
      encore::RetryPolicy{encore::RetryIfResult{[](const Number& number) { return number.value < 3; }}, clock,
                          encore::ReturnOutcome{}}
          .run([](const encore::Attempt& attempt) { return Number{attempt.ordinal}; });
  CHECK(returned->value == 3);
}

TEST_CASE("retrying every exception has a name that says so [B1, B2]", "[predicate]") {
  const encore::RetryOnEveryException every;
  CHECK(attempts_of(every, raise(std::logic_error{"bug"})) == 3);
  CHECK(attempts_of(every, raise(42)) == 3);
  CHECK(attempts_of(every, raise(Twice{})) == 3);
}

const auto negative = RetryIfResult{[](int units) { return units < 0; }};
int gives_minus_one() { return -1; }
int gives_one() { return 1; }

TEST_CASE("a predicate on values has no opinion on exceptions, and the reverse [B3, B8]", "[predicate]") {
  CHECK(attempts_of(negative, raise(TimeoutError{})) == 1);
  CHECK(attempts_of(encore::RetryOnEveryException{}, gives_minus_one) ==
        1);  // a returned error value is a success
}

TEST_CASE("a predicate may look at the attempt: its ordinal, its call, its notes [B6]", "[predicate]") {
  const auto only_the_first = RetryIf{[](const Thrown& failure) { return failure.attempt().ordinal == 1; }};
  CHECK(attempts_of(only_the_first, raise(42)) == 2);
  CHECK(attempts_of(RetryIfResult{[](const Returned<int>& failure) { return failure.attempt.ordinal < 2; }},
                    gives_one) == 2);

  FakeClock clock;
  std::vector<std::string> seen;
  const RetryPolicy policy{clock, RetryIf{[&](const Thrown& failure) {
                             seen.push_back(std::string{failure.attempt().call_id()} + ' ' +
                                            std::string{failure.attempt().call_name()} + ' ' +
                                            std::to_string(failure.attempt().notes->status().value_or(0)));
                             return failure.attempt().notes->status() == 503;
                           }}};
  int attempts = 0;
  CHECK_THROWS_AS(policy.run({.id = "call-17", .name = "lookup"},
                             [&](const encore::Attempt& attempt) {
                               attempt.note_status(++attempts == 1 ? 503 : 400);
                               throw PlainError{};
                             }),
                  PlainError);
  CHECK(seen == std::vector<std::string>{"call-17 lookup 503", "call-17 lookup 400"});
}

// ---- a predicate that throws (B7) ------------------------------------------------------------------------------------------

template <class Predicate, class F, class... More>
StopReason reason_of(const Predicate& predicate, F fail, bool takes_attempt, const More&... more) {
  FakeClock clock;
  Recorder trace;
  int attempts = 0;
  const RetryPolicy policy{clock, trace, predicate, more...};
  const auto play = [&] {
    ++attempts;
    return fail();
  };
  try {
    if (takes_attempt)
      static_cast<void>(policy.run([&](const encore::Attempt&) { return play(); }));
    else
      static_cast<void>(policy.run(play));
    CHECK(std::is_same_v<decltype(fail()), int>);
  } catch (const TimeoutError&) {  // the original failure
  } catch (const PlainError& error) {
    CHECK(error.code == 5);
  }
  CHECK(attempts == 1);
  CHECK(clock.sleeps().empty());
  return trace.events().back().reason;
}

TEST_CASE(
    "a predicate that throws stops the call with the original failure (fault 28: folly 40b40a1d9, "
    "async-retry #7) [B7]",
    "[predicate]") {
  const auto throwing =
      RetryIf{[](const Thrown&) -> bool { throw std::logic_error{"the predicate's own bug"}; }};
  const auto throwing_int = RetryIf{[](const Thrown&) -> bool { throw 42; }};
  const encore::FormatFailure format{
      [](const encore::Failure&) -> int { throw std::logic_error{"is not asked"}; }};
  for (const bool takes_attempt : {false, true}) {
    const auto check = [&](const auto& predicate) {
      CHECK(reason_of(predicate, raise(TimeoutError{}), takes_attempt) == StopReason::predicate_threw);
      CHECK(reason_of(predicate, raise(PlainError{}), takes_attempt) == StopReason::predicate_threw);
      CHECK(reason_of(predicate, raise(TimeoutError{}), takes_attempt, encore::ReturnOutcome{}) ==
            StopReason::predicate_threw);
      CHECK(reason_of(predicate, raise(TimeoutError{}), takes_attempt, format) ==
            StopReason::predicate_threw);
      CHECK(reason_of(predicate, raise(TimeoutError{}), takes_attempt, format, encore::HandleUnmatched{}) ==
            StopReason::predicate_threw);
    };
    check(throwing);
    check(throwing_int);
    check(RetryOn<int>{} || throwing);
    check(encore::RetryOnEveryException{} && throwing);
    check(!throwing);
  }
}

TEST_CASE("if a predicate throws about a value, the value is the result (fault 28) [B7]", "[predicate]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{clock, trace, RetryIfResult{[](int) -> bool { throw std::logic_error{"bug"}; }}};
  int attempts = 0;
  const auto tool = [&] { return ++attempts; };
  CHECK(policy.run(tool) == 1);
  CHECK(policy.with(encore::FormatFailure{[](const encore::Failure&) { return -1; }}).run(tool) == 2);
  const auto outcome = policy.with(encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.value() == 3);
  CHECK(outcome.reason() == StopReason::predicate_threw);
  for (const auto& event : trace.events())
    if (event.kind == encore::EventKind::call_finished) CHECK(event.reason == StopReason::predicate_threw);
  CHECK(clock.sleeps().empty());
}

}  // namespace

#include "by_hand.hpp"
#include <encore/testing/scripted.hpp>
#include <encore/testing/step.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using namespace encore::testing;
using by_hand::AttemptOf;
using encore::TimePoint;

namespace {

struct HttpError : std::runtime_error {
  HttpError(int code, const std::string& text) : std::runtime_error{text}, status{code} {}
  int status;
};
struct Pinned {  // neither copied nor moved
  explicit Pinned(int number) : value{number} {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  int value;
};

TEST_CASE("throws() constructs a new exception from its arguments each time", "[step]") {
  Scripted<int> script{times(2, throws<HttpError>(503, "busy")), throws<int>(42)};
  const HttpError* first = nullptr;
  std::exception_ptr kept;  // so that a second one cannot come to lie in the same place
  try {
    script(AttemptOf{"call-17"});
  } catch (const HttpError& error) {
    first = &error;
    kept = std::current_exception();
    CHECK(error.status == 503);
    CHECK(error.what() == std::string{"busy"});
  }
  REQUIRE(first != nullptr);
  try {
    script(AttemptOf{"call-17", 2});
    FAIL("the second step did not throw");
  } catch (const HttpError& error) {
    CHECK(&error != first);
    CHECK(error.status == 503);
  }
  CHECK_THROWS_AS(script(AttemptOf{"call-17", 3}), int);
}

TEST_CASE("a script returns void, references, move-only results and immovable ones [A6]", "[step]") {
  Scripted<void> nothing{throws<HttpError>(503, "busy"), returns()};
  CHECK_THROWS_AS(nothing(AttemptOf{"call-1"}), HttpError);
  CHECK_NOTHROW(nothing(AttemptOf{"call-1", 2}));

  int stock = 17;
  Scripted<int&> reference{returns(std::ref(stock))};
  CHECK(&reference(AttemptOf{"call-2"}) == &stock);

  Scripted<std::unique_ptr<int>> move_only{returns(std::make_unique<int>(17)), returns(nullptr)};
  CHECK(*move_only(AttemptOf{"call-3"}) == 17);
  CHECK(move_only(AttemptOf{"call-3", 2}) == nullptr);

  Scripted<Pinned> pinned{does([] { return Pinned{17}; })};
  CHECK(pinned(AttemptOf{"call-4"}).value == 17);
}

TEST_CASE("a step's returned value converts to the script's type, and is the same each time", "[step]") {
  Scripted<std::string> script{times(2, returns("a text that is longer than any small buffer")),
                               returns(std::string{"last"})};
  CHECK(script(AttemptOf{"call-17"}) == "a text that is longer than any small buffer");
  CHECK(script(AttemptOf{"call-17", 2}) == "a text that is longer than any small buffer");
  CHECK(script(AttemptOf{"call-17", 3}) == "last");

  Scripted<std::string> for_ever{always(returns(std::string{"a text that is longer than any small buffer"}))};
  for (int ordinal = 1; ordinal <= 3; ++ordinal)
    CHECK(for_ever(AttemptOf{"call-18", ordinal}) == "a text that is longer than any small buffer");
}

TEST_CASE("does() calls a function, with the attempt if it takes one", "[step]") {
  int called = 0;
  Scripted<int> script{does([&] { return ++called; }),
                       does([](const encore::Attempt& attempt) { return attempt.ordinal * 100; })};
  CHECK(script(AttemptOf{"call-17"}) == 1);
  CHECK(script(AttemptOf{"call-17", 2}) == 200);
  CHECK(called == 1);

  Scripted<void> discards{does([&] { return ++called; })};
  discards(AttemptOf{"call-18"});
  CHECK(called == 2);
}

TEST_CASE("a step that takes time lets it pass before it ends, whichever way [D8]", "[step]") {
  FakeClock clock;
  Scripted<int> script{clock, throws<HttpError>(503, "busy").takes(300ms), returns(17).takes(0.2s),
                       returns(18)};
  CHECK_THROWS_AS(script(AttemptOf{"call-17"}), HttpError);
  CHECK(clock.now() == TimePoint{300ms});
  CHECK(script(AttemptOf{"call-17", 2}) == 17);
  CHECK(clock.now() == TimePoint{500ms});
  CHECK(script(AttemptOf{"call-17", 3}) == 18);
  CHECK(clock.now() == TimePoint{500ms});
  CHECK(clock.sleeps().empty());
}

TEST_CASE("a repeated step takes its time each time", "[step]") {
  FakeClock clock;
  Scripted<int> script{clock, times(2, returns(1).takes(100ms)), always(returns(2).takes(1s))};
  for (int ordinal = 1; ordinal <= 4; ++ordinal) script(AttemptOf{"call-17", ordinal});
  CHECK(clock.now() == TimePoint{2200ms});
}

TEST_CASE("a step writes its notes on its attempt [F6]", "[step]") {
  Scripted<int> script{throws<HttpError>(503, "busy").notes(503).notes("request-9"), returns(17)};
  const AttemptOf first{"call-17"};
  CHECK_THROWS_AS(script(first), HttpError);
  CHECK(first.notes.status() == 503);
  CHECK(first.notes.request_id() == "request-9");

  const AttemptOf second{"call-17", 2};
  script(second);
  CHECK_FALSE(second.notes.status().has_value());
  CHECK(second.notes.request_id().empty());
  CHECK_FALSE(second.notes.dispatched());
  CHECK_FALSE(second.notes.answered());
  CHECK_FALSE(second.notes.key_used());
}

TEST_CASE("a step dispatches its request before its time passes, and has the answer after it [I3]",
          "[step]") {
  FakeClock clock;
  Scripted<int> script{clock, throws<HttpError>(504, "slow").dispatched().answered().takes(1s),
                       throws<HttpError>(504, "slow").takes(1s).dispatched()};
  const AttemptOf first{"call-17"};
  bool dispatched = false;
  bool answered = true;
  clock.after(500ms, [&] {
    dispatched = first.notes.dispatched();
    answered = first.notes.answered();
  });
  CHECK_THROWS_AS(script(first), HttpError);
  CHECK(dispatched);
  CHECK_FALSE(answered);
  CHECK(first.notes.answered());

  const AttemptOf second{"call-17", 2};
  CHECK_THROWS_AS(script(second), HttpError);
  CHECK(second.notes.dispatched());
  CHECK_FALSE(second.notes.answered());
}

TEST_CASE("a step reports after its time that the request did not run [I1]", "[step]") {
  Scripted<int> script{throws<HttpError>(503, "busy").not_run(),
                       throws<HttpError>(503, "busy").not_run().dispatched()};
  for (const auto dispatched : {false, true}) {
    const AttemptOf attempt{"call-17"};
    CHECK_THROWS_AS(script(attempt), HttpError);
    CHECK(attempt.notes.not_run());
    CHECK(attempt.notes.dispatched() == dispatched);
    CHECK_FALSE(attempt.notes.outcome_unknown());
  }
}

TEST_CASE("a script stores the keys that its steps asked for [I2]", "[step]") {
  Scripted<int> script{returns(1).uses_key(), returns(2), returns(3).uses_key()};
  const encore::Call call{.id = "call-17", .operation_key = "order-9"};
  for (int ordinal = 1; ordinal <= 3; ++ordinal) {
    const AttemptOf attempt{call, ordinal};
    script(attempt);
    CHECK(attempt.notes.key_used() == (ordinal != 2));
  }
  CHECK(script.keys() == std::vector<std::string>{"order-9", "order-9"});
}

TEST_CASE("a step repeated zero times is not in the script", "[step]") {
  Scripted<int> script{times(0, returns(1)), returns(2)};
  CHECK(script(AttemptOf{"call-17"}) == 2);
  CHECK(script.finished());
  CHECK_THROWS_WITH(times(-1, returns(1)), "encore: times = -1 is invalid: it must not be negative");
  CHECK_THROWS_WITH(returns(1).takes(-1s),
                    "encore: takes = -1s is invalid: it must be finite and not negative");
}

TEST_CASE("a step can be stored and played in several places", "[step]") {
  const auto slow = throws<HttpError>(504, "slow");
  Scripted<int> script{slow, returns(1), slow};
  CHECK_THROWS_AS(script(AttemptOf{"call-17"}), HttpError);
  CHECK(script(AttemptOf{"call-17", 2}) == 1);
  CHECK_THROWS_AS(script(AttemptOf{"call-17", 3}), HttpError);
}

}  // namespace

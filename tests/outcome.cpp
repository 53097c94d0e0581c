#include <encore/outcome.hpp>
#include <encore/refused.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <version>

using namespace std::chrono_literals;
using encore::Failure, encore::Outcome, encore::StopReason;

namespace {

/// As `ReturnOutcome` makes it after three attempts and 4 s of waits in 5 s, in which an observer threw once.
template <class T, class... Value>
Outcome<T> good(Value&&... value) {
  return Outcome<T>{std::forward<Value>(value)..., {StopReason::succeeded, 3, 5s, 4s, 1}};
}

Failure failed() {
  return {.call_id = "call-17",
          .call_name = "lookup",
          .reason = StopReason::retries_exhausted,
          .attempts = 3,
          .max_attempts = 3,
          .elapsed = 5s,
          .slept = 4s,
          .error = std::make_exception_ptr(std::runtime_error{"down"}),
          .observer_errors = 2};
}

template <class O>
concept HasLastValue = requires(O&& outcome) { static_cast<O&&>(outcome).last_value(); };

TEST_CASE("an outcome with a value gives it, the attempts and the times [G2]", "[outcome]") {
  auto outcome = good<std::string>("units");
  REQUIRE(outcome.has_value());
  CHECK(outcome);
  CHECK(outcome.value() == "units");
  CHECK(*outcome == "units");
  CHECK(outcome->size() == 5);
  CHECK(outcome.reason() == StopReason::succeeded);
  CHECK(outcome.attempts() == 3);
  CHECK(outcome.elapsed() == 5s);
  CHECK(outcome.slept() == 4s);
  CHECK(outcome.observer_errors() == 1);
  CHECK(outcome.value_or("none") == "units");
  CHECK(outcome.last_value() == nullptr);  // it is no failed value
  outcome.value() += '!';
  CHECK(std::as_const(outcome).value() == "units!");
  CHECK(std::move(outcome).value() == "units!");
}

TEST_CASE("an outcome with a failure has its reason, its numbers and the last exception [G2]", "[outcome]") {
  const Outcome<std::string> outcome{failed()};
  REQUIRE_FALSE(outcome.has_value());
  CHECK_FALSE(outcome);
  CHECK(outcome.reason() == StopReason::retries_exhausted);
  CHECK(outcome.attempts() == 3);
  CHECK(outcome.elapsed() == 5s);
  CHECK(outcome.slept() == 4s);
  CHECK(outcome.observer_errors() == 2);
  CHECK(outcome.failure().call_id == "call-17");
  CHECK_THROWS_AS(std::rethrow_exception(outcome.failure().error), std::runtime_error);
  CHECK(outcome.value_or("none") == "none");
  CHECK(outcome.last_value() == nullptr);
}

TEST_CASE("an outcome with a failed value keeps it beside the failure [G2]", "[outcome]") {
  const Outcome<int> outcome{failed(), -1};
  CHECK_FALSE(outcome);
  REQUIRE(outcome.last_value() != nullptr);
  CHECK(*outcome.last_value() == -1);
  CHECK(outcome.value_or(7) == 7);
}

TEST_CASE("an outcome's failure shows the failed value, wherever the outcome is copied or moved [G8]",
          "[outcome]") {
  Outcome<std::string> outcome{failed(), std::string{"busy"}};
  const auto sees = [](const Outcome<std::string>& seen) {
    const auto* const last = seen.failure().last_value<std::string>();
    return last != nullptr && last == seen.last_value() && *last == "busy";
  };
  CHECK(sees(outcome));
  CHECK(outcome.failure().last_value<int>() == nullptr);
  auto copy = outcome;
  CHECK(sees(copy));
  auto moved = std::move(outcome);
  CHECK(sees(moved));
  copy = Outcome<std::string>{failed()};
  CHECK(copy.failure().last_value<std::string>() == nullptr);
  copy = moved;
  CHECK(sees(copy));
  moved = std::move(copy);
  CHECK(sees(moved));
  const auto alone = moved.failure();
  CHECK(alone.last_value<std::string>() == nullptr);  // it may outlive the outcome

  auto number = -1;
  const Outcome<int&> reference{failed(), number};
  CHECK(reference.failure().last_value<int>() == &number);
  STATIC_CHECK(!std::copy_constructible<Outcome<std::unique_ptr<int>>>);
  STATIC_CHECK(std::movable<Outcome<std::unique_ptr<int>>>);
}

TEST_CASE("a temporary outcome gives out no reference into itself [G2, G8]", "[outcome]") {
  const auto make = [] { return Outcome<std::string>{failed(), std::string{"busy"}}; };
  STATIC_CHECK(std::same_as<decltype(make().failure()), encore::Failure>);
  STATIC_CHECK(std::same_as<decltype(make().value()), std::string>);
  STATIC_CHECK(std::same_as<decltype(*make()), std::string>);
  STATIC_CHECK(HasLastValue<const Outcome<std::string>&>);
  STATIC_CHECK(!HasLastValue<Outcome<std::string>>);
  STATIC_CHECK(!HasLastValue<const Outcome<std::string>>);
  const auto& failure = make().failure();
  CHECK(failure.call_id == "call-17");
  CHECK(failure.last_value<std::string>() == nullptr);
}

TEST_CASE("access to a missing value reports what failed, and invents no value [G1, G2, G4]", "[outcome]") {
  const auto failure = failed();
  Outcome<int> outcome{failure};
  try {
    static_cast<void>(outcome.value());
    FAIL("there is no value");
  } catch (const std::runtime_error&) {
    CHECK(std::current_exception() == failure.error);
  }
  CHECK_THROWS_AS(std::as_const(outcome).value(), std::runtime_error);
  CHECK_THROWS_AS(std::move(outcome).value(), std::runtime_error);
  CHECK_THROWS_AS(Outcome<void>{failure}.value(), std::runtime_error);
  CHECK_THROWS_AS(Outcome<void>{Failure{.reason = StopReason::circuit_open}}.value(), encore::Refused);
  const Outcome<int> failed_value{
      Failure{.call_id = "call-17", .reason = StopReason::retries_exhausted, .attempts = 3}, -1};
  CHECK_THROWS_WITH(failed_value.value(),
                    "encore: the outcome of call call-17 has no value: retries_exhausted");
}

TEST_CASE("outcomes hold values that cannot be copied or default-constructed, references and void [A6, G2]",
          "[outcome]") {
  auto owner = good<std::unique_ptr<int>>(std::make_unique<int>(17));
  CHECK(*std::move(owner).value() == 17);
  const std::unique_ptr<int> owned = *good<std::unique_ptr<int>>(std::make_unique<int>(18));
  CHECK(*owned == 18);
  CHECK(*good<std::unique_ptr<int>>(std::make_unique<int>(19)).value_or(nullptr) == 19);
  CHECK(Outcome<std::unique_ptr<int>>{failed()}.value_or(nullptr) == nullptr);

  struct NoDefault {
    explicit NoDefault(int n) : value{n} {}
    int value;
  };
  CHECK(good<NoDefault>(NoDefault{5})->value == 5);
  CHECK_FALSE(Outcome<NoDefault>{failed()});

  int units = 17;
  const auto reference = good<int&>(units);
  CHECK(&reference.value() == &units);
  CHECK(&*reference == &units);
  STATIC_CHECK(std::is_same_v<decltype(std::declval<Outcome<int&>>().value()), int&>);

  const auto nothing = good<void>();
  CHECK(nothing);
  nothing.value();
  CHECK_FALSE(Outcome<void>{failed()});
}

TEST_CASE("outcomes are copied and moved like their values", "[outcome]") {
  const auto outcome = good<std::string>("units");
  auto copy = outcome;
  CHECK(copy.value() == "units");
  const auto moved = std::move(copy);
  CHECK(moved.value() == "units");
  Outcome<std::string> other{failed()};
  other = outcome;
  CHECK(other.value() == "units");
  CHECK(other.reason() == StopReason::succeeded);
  STATIC_CHECK_FALSE(std::is_copy_constructible_v<Outcome<std::unique_ptr<int>>>);
  STATIC_CHECK(std::is_nothrow_move_constructible_v<Outcome<std::unique_ptr<int>>>);
}

/// Breaks when it is copied or moved, if it is told to.
struct Fragile {
  static inline bool breaks = false;
  std::string text;
  explicit Fragile(std::string of) : text{std::move(of)} {}
  Fragile(const Fragile& other) : text{checked(other)} {}
  Fragile& operator=(const Fragile& other) {
    text = checked(other);
    return *this;
  }
  static const std::string& checked(const Fragile& other) {
    if (breaks) throw 17;
    return other.text;
  }
};

TEST_CASE("an outcome whose assignment threw has a value only where there is one [G2]", "[outcome]") {
  auto value = good<Fragile>(Fragile{"units"});
  Outcome<Fragile> failure{failed()};
  Fragile::breaks = true;
  CHECK_THROWS_AS(failure = value, int);
  CHECK_FALSE(failure.has_value());
  CHECK_THROWS_AS(failure = std::move(value), int);
  CHECK_FALSE(failure.has_value());
  CHECK(failure.failure().call_id == "call-17");
  Fragile::breaks = false;
  failure = value;
  CHECK(failure->text == "units");
  value = Outcome<Fragile>{failed(), Fragile{"none"}};
  CHECK_FALSE(value.has_value());
  CHECK(value.last_value()->text == "none");
  CHECK(value.failure().last_value<Fragile>() == value.last_value());
}

struct Json {
  int value;
  template <class T>
  operator T() const {
    return T{};
  }
};

TEST_CASE("an outcome holds a value that converts to anything [A6, G2]", "[outcome]") {
  CHECK(good<Json>(Json{17})->value == 17);
  const Outcome<Json> failure{failed(), Json{18}};
  CHECK(failure.last_value()->value == 18);
}

#if defined(__cpp_lib_expected)
TEST_CASE("an outcome converts to std::expected where there is one [G2]", "[outcome]") {
  const std::expected<std::string, Failure> value = good<std::string>("units");
  CHECK(value.value() == "units");
  const std::expected<std::string, Failure> error = Outcome<std::string>{failed()};
  CHECK(error.error().reason == StopReason::retries_exhausted);
  const std::expected<void, Failure> nothing = Outcome<void>{failed()};
  CHECK(nothing.error().attempts == 3);
}
#endif

}  // namespace

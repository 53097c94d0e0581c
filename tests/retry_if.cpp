#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace encore::testing;
using encore::RetryIfNoValue, encore::RetryIfResult, encore::RetryPolicy, encore::Thrown;
using encore::Returned, encore::RetryIf, encore::RetryIfErrorValue, encore::RetryIfMessageContains;

namespace {

struct HttpError : std::runtime_error {
  explicit HttpError(int s) : std::runtime_error{"status " + std::to_string(s)}, status{s} {}
  int status;
};
struct NotFound : HttpError {
  NotFound() : HttpError{404} {}
};

template <class Predicate, class Error>
bool retries(const Predicate& predicate, const Error& error) {
  try {
    throw error;
  } catch (const std::exception& thrown) {
    return predicate.matches(Thrown{&thrown});
  } catch (...) {
    return predicate.matches(Thrown{nullptr});
  }
}
template <class Predicate, class Value>
bool retries_value(const Predicate& predicate, const Value& value) {
  const encore::FailedAttempt attempt;
  return predicate.matches(Returned<Value>{value, attempt});
}

bool server_side(const HttpError& error) { return error.status >= 500; }

TEST_CASE("a function is asked about the exceptions that its argument names [B6]", "[retry_if]") {
  const RetryIf predicate{[](const HttpError& error) { return error.status >= 500; }};
  CHECK(retries(predicate, HttpError{503}));
  CHECK_FALSE(retries(predicate, HttpError{404}));
  CHECK_FALSE(retries(predicate, NotFound{}));
  CHECK_FALSE(retries(predicate, std::runtime_error{"another"}));
  CHECK_FALSE(retries(predicate, 503));

  CHECK(retries(RetryIf{server_side}, HttpError{500}));
  CHECK_FALSE(retries(RetryIf{&server_side}, HttpError{499}));
  CHECK(retries(RetryIf{[](int code) { return code == 7; }}, 7));
  CHECK_FALSE(retries(RetryIf{[](int code) { return code == 7; }}, 8));
  CHECK(retries(RetryIf{[](const std::exception& error) noexcept { return error.what()[0] == 's'; }},
                HttpError{503}));
  CHECK(retries(RetryIf{[](const Thrown& failure) { return failure.is<int>(); }}, 7));
  CHECK(retries(RetryIf{[](const auto& error) { return std::string{error.what()} == "status 503"; }},
                HttpError{503}));
}

TEST_CASE("a function may have state [B6]", "[retry_if]") {
  const RetryPolicy policy{RetryIf{[limit = std::make_shared<int>(500)](const HttpError& error) {
                             return error.status >= *limit;
                           }},
                           encore::ConstantBackoff{std::chrono::seconds{0}}};
  int attempts = 0;
  CHECK_THROWS_AS(policy.run([&] {
    ++attempts;
    throw HttpError{503};
  }),
                  HttpError);
  CHECK(attempts == 3);
}

TEST_CASE("a returned value is a failure if the function says so, and else a success [B8]", "[retry_if]") {
  const RetryIfResult negative{[](int units) { return units < 0; }};
  CHECK(retries_value(negative, -1));
  CHECK_FALSE(retries_value(negative, 1));
  STATIC_CHECK(encore::JudgesValues<decltype(negative), int>);
  STATIC_CHECK_FALSE(encore::JudgesValues<decltype(negative), std::string>);
  STATIC_CHECK_FALSE(encore::JudgesExceptions<decltype(negative)>);
  CHECK(retries_value(RetryIfResult{[](const Returned<int>& failure) { return failure.value == 5; }}, 5));
  CHECK(retries_value(RetryIfResult{[](const auto& value) { return value.empty(); }}, std::string{}));
}

TEST_CASE("results without a value: optional and outcome [B6]", "[retry_if]") {
  CHECK(retries_value(RetryIfNoValue{}, std::optional<int>{}));
  CHECK_FALSE(retries_value(RetryIfNoValue{}, std::optional<int>{5}));
  CHECK(retries_value(RetryIfNoValue{}, encore::Outcome<int>{encore::Failure{.attempts = 1}}));
  CHECK_FALSE(retries_value(RetryIfNoValue{},
                            encore::Outcome<int>{5, {encore::StopReason::succeeded, 1, {}, {}, 0}}));
  STATIC_CHECK_FALSE(encore::JudgesValues<RetryIfNoValue, int>);

  FakeClock clock;
  int attempts = 0;
  CHECK(RetryPolicy{clock, RetryIfNoValue{}}
            .run([&] {
              return ++attempts < 3 ? std::optional<std::unique_ptr<int>>{} : std::make_unique<int>(17);
            })
            .value() != nullptr);
  CHECK(attempts == 3);
}

// Shaped like std::expected, which C++20 has not.
template <class E>
struct Expected {
  bool has;
  E failed{};
  bool has_value() const { return has; }
  const E& error() const { return failed; }
};

TEST_CASE("results whose error a function accepts [B6, B8]", "[retry_if]") {
  const RetryIfErrorValue busy{[](int code) { return code == 11; }};
  CHECK(retries_value(busy, Expected<int>{false, 11}));
  CHECK_FALSE(retries_value(busy, Expected<int>{false, 12}));
  CHECK_FALSE(retries_value(busy, Expected<int>{true, 11}));
  STATIC_CHECK_FALSE(encore::JudgesValues<decltype(busy), Expected<std::string>>);
}

TEST_CASE("a whole failure decides between two that look alike [B8]", "[retry_if]") {
  struct Response {
    int status;
    std::string code;
  };
  const auto retry = RetryIfResult{
      [](const Response& response) { return response.status == 429 && response.code != "no_quota"; }};
  CHECK(retries_value(retry, Response{429, "slow_down"}));
  CHECK_FALSE(retries_value(retry, Response{429, "no_quota"}));
}

TEST_CASE("messages match letter for letter, of what has one [B6]", "[retry_if]") {
  CHECK(retries(RetryIfMessageContains{"503"}, HttpError{503}));
  CHECK_FALSE(retries(RetryIfMessageContains{"Status"}, HttpError{503}));
  CHECK_FALSE(retries(RetryIfMessageContains{"503"}, 503));
  CHECK_FALSE(retries(RetryIfMessageContains{""}, 503));
  struct Silent : std::exception {
    const char* what() const noexcept override { return nullptr; }
  };
  CHECK_FALSE(retries(RetryIfMessageContains{"503"}, Silent{}));
}

}  // namespace

#include <encore/hint.hpp>
#include <encore/never_retry.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/durations.hpp>
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
using encore::Returned, encore::RetryIf, encore::RetryOn, encore::RetryIfErrorValue,
    encore::RetryIfMessageContains;

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

TEST_CASE("RetryIf evaluates a function for the exceptions that its parameter names [B6]", "[retry_if]") {
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

// What a policy does with a callable that always does the same.
template <class Predicate, class F, class... More>
int attempts_of(const Predicate& predicate, F fail, const More&... more) {
  FakeClock clock;
  int attempts = 0;
  try {
    static_cast<void>(RetryPolicy{clock, predicate, more...}.run([&] {
      ++attempts;
      return fail();
    }));
  } catch (...) {}
  return attempts;
}

struct Response {
  int status = 200;
  std::optional<std::chrono::seconds> wait{};
};
struct Throttled : Response {};
// Shaped like std::expected, which C++20 has not.
template <class E>
struct Expected {
  bool has;
  E failed{};
  bool has_value() const { return has; }
  const E& error() const { return failed; }
};

TEST_CASE("RetryIf with a parameter of the result type is evaluated for returned values [B9]", "[retry_if]") {
  const RetryIf busy{[](const Response& response) { return response.status == 503; }};
  CHECK(attempts_of(busy, [] { return Response{503}; }) == 3);
  CHECK(attempts_of(busy, [] { return Response{404}; }) == 1);
  CHECK(attempts_of(busy, [] { return Throttled{{503}}; }) == 3);  // as a catch clause takes what derives
  CHECK(attempts_of(busy, []() -> int { throw Response{503}; }) == 3);
  CHECK(attempts_of(busy, []() -> Response { throw Throttled{{503}}; }) == 3);
  CHECK(attempts_of(busy, []() -> Response { throw std::runtime_error{"another"}; }) == 1);
  CHECK(attempts_of(RetryIf{[](const Returned<Response>& failure) { return failure.attempt.ordinal < 2; }},
                    [] { return Throttled{}; }) == 2);

  static Response shared{503};
  CHECK(attempts_of(busy, []() -> Response& { return shared; }) == 3);
  CHECK(attempts_of(RetryIf{[](const char* text) { return *text == 'b'; }}, [] { return "busy"; }) == 3);
}

TEST_CASE("RetryIf with a parameter of an expected's error type is evaluated for that error alone [B9]",
          "[retry_if]") {
  const RetryIf busy{[](const Response& error) { return error.status == 503; }};
  CHECK(attempts_of(busy, [] { return Expected<Response>{false, {503}}; }) == 3);
  CHECK(attempts_of(busy, [] { return Expected<Throttled>{false, {{503}}}; }) == 3);
  CHECK(attempts_of(busy, [] { return Expected<Response>{false, {404}}; }) == 1);
  CHECK(attempts_of(busy, [] { return Expected<Response>{true, {503}}; }) == 1);
  CHECK(attempts_of(RetryIfResult{[](const Response& error) { return error.status == 503; }},
                    [] { return Expected<Response>{false, {503}}; }) == 3);
}

TEST_CASE("the same test means the same in RetryIf, NeverRetryIf and HintFrom [B9]", "[retry_if]") {
  const auto busy = [](const Response& response) { return response.status == 503; };
  const auto wait = [](const Response& response) { return response.wait; };
  const auto waits_of = [&](auto fail) {
    FakeClock clock;
    const RetryPolicy policy{clock, RetryIf{busy}, encore::HintFrom{wait}, encore::NoJitter{},
                             encore::MaxRetries{1}};
    try {
      static_cast<void>(policy.run(fail));
    } catch (const Response&) {}
    return clock.sleeps();
  };
  const auto check = [&](auto fail) {
    CHECK(attempts_of(RetryIf{busy}, fail) == 3);
    CHECK(attempts_of(RetryIf{busy}, fail, encore::NeverRetryIf{busy}) == 1);
    CHECK(waits_of(fail) == encore::testing::Durations{std::chrono::seconds{7}});
  };
  const Response slow{503, std::chrono::seconds{7}};
  check([&] { return slow; });
  check([&] { return Throttled{slow}; });
  check([&]() -> int { throw slow; });
  check([&]() -> int { throw Throttled{slow}; });
  check([&] { return Expected<Response>{false, slow}; });
}

TEST_CASE("the negation of a test has no opinion where the test was not evaluated [B9]", "[retry_if]") {
  const auto not_found = !RetryIf{[](const Response& response) { return response.status == 200; }};
  CHECK(attempts_of(not_found, [] { return Response{404}; }) == 3);
  CHECK(attempts_of(not_found, [] { return Response{200}; }) == 1);
  CHECK(attempts_of(not_found, []() -> Response { throw std::runtime_error{"no value"}; }) == 1);
  CHECK(attempts_of(not_found, []() -> Response { throw 42; }) == 1);
  CHECK(attempts_of(!not_found, []() -> Response { throw 42; }) == 1);

  const auto not_final = !RetryIf{[](const std::string& error) { return error == "final"; }};
  CHECK(attempts_of(not_final, [] { return Expected<std::string>{false, "busy"}; }) == 3);
  CHECK(attempts_of(not_final, [] { return Expected<std::string>{false, "final"}; }) == 1);
  CHECK(attempts_of(not_final, [] { return Expected<std::string>{true, "busy"}; }) == 1);  // a success
  CHECK(attempts_of(!RetryIfErrorValue{[](const std::string& error) { return error == "final"; }},
                    [] { return Expected<std::string>{true, "busy"}; }) == 1);

  const auto not_500 = !RetryIf{[](const HttpError& error) { return error.status == 500; }};
  CHECK(attempts_of(not_500, []() -> int { throw HttpError{503}; }) == 3);
  CHECK(attempts_of(not_500, []() -> int { throw HttpError{500}; }) == 1);
  CHECK(attempts_of(not_500, []() -> int { throw std::runtime_error{"another"}; }) == 1);
  CHECK(attempts_of(not_500 || RetryOn<std::runtime_error>{},
                    []() -> int { throw std::runtime_error{"another"}; }) == 3);
  CHECK(attempts_of(RetryOn<std::runtime_error>{} && not_500,
                    []() -> int { throw std::runtime_error{"another"}; }) == 1);
  CHECK(attempts_of(!(RetryOn<int>{} || not_500), []() -> int { throw HttpError{500}; }) == 3);
  CHECK(attempts_of(!(RetryOn<int>{} && not_500), []() -> int { throw std::runtime_error{"another"}; }) == 3);
}

TEST_CASE("a part of a filter that never applies to this callable is ignored [B9]", "[retry_if]") {
  const auto either = RetryIf{[](const Response& response) { return response.status == 503; }} ||
                      RetryIf{[](const HttpError& error) { return error.status == 503; }};
  CHECK(attempts_of(either, []() -> int { throw HttpError{503}; }) == 3);
  CHECK(attempts_of(either, [] { return std::string{"fine"}; }) == 1);
  CHECK(attempts_of(either, [] { return Response{503}; }) == 3);
  CHECK(attempts_of(RetryOn<int>{} || RetryIfResult{[](const Response&) { return true; }},
                    []() -> std::string { throw 5; }) == 3);
}

struct Opaque;  // never defined, as the handle of a C library

TEST_CASE("a callable may return a pointer or a reference to an incomplete type [A6, B9]", "[retry_if]") {
  const auto opened = []() -> Opaque* { throw HttpError{503}; };
  CHECK(attempts_of(RetryIf{[](const HttpError& error) { return error.status == 503; }}, opened) == 3);
  CHECK(attempts_of(RetryOn<HttpError>{}, []() -> void* { throw HttpError{503}; }) == 3);
  CHECK_THROWS_AS((RetryPolicy{RetryIf{[](const std::exception&) { return false; }}}.run(
                      []() -> Opaque& { throw HttpError{503}; })),
                  HttpError);
  CHECK(attempts_of(RetryIfResult{[](const Opaque* handle) { return handle == nullptr; }},
                    []() -> const Opaque* { return nullptr; }) == 3);
}

TEST_CASE("a RetryIf function may have state [B6]", "[retry_if]") {
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

TEST_CASE("a returned value is a failure if RetryIf says so, and otherwise a success [B8]", "[retry_if]") {
  const RetryIfResult negative{[](int units) { return units < 0; }};
  CHECK(retries_value(negative, -1));
  CHECK_FALSE(retries_value(negative, 1));
  STATIC_CHECK(encore::JudgesValues<decltype(negative), int>);
  STATIC_CHECK_FALSE(encore::JudgesValues<decltype(negative), std::string>);
  STATIC_CHECK_FALSE(encore::JudgesExceptions<decltype(negative)>);
  CHECK(retries_value(RetryIfResult{[](const Returned<int>& failure) { return failure.value == 5; }}, 5));
  CHECK(retries_value(RetryIfResult{[](const auto& value) { return value.empty(); }}, std::string{}));
}

TEST_CASE("RetryIfNoValue retries results without a value: optional and outcome [B6]", "[retry_if]") {
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

TEST_CASE("results are retried if a function accepts their error [B6, B8]", "[retry_if]") {
  const RetryIfErrorValue busy{[](int code) { return code == 11; }};
  CHECK(retries_value(busy, Expected<int>{false, 11}));
  CHECK_FALSE(retries_value(busy, Expected<int>{false, 12}));
  CHECK_FALSE(retries_value(busy, Expected<int>{true, 11}));
  STATIC_CHECK_FALSE(encore::JudgesValues<decltype(busy), Expected<std::string>>);
}

TEST_CASE("a test on the whole failure distinguishes two that look alike [B8]", "[retry_if]") {
  struct Refusal {
    int status;
    std::string code;
  };
  const auto retry = RetryIfResult{
      [](const Refusal& response) { return response.status == 429 && response.code != "no_quota"; }};
  CHECK(retries_value(retry, Refusal{429, "slow_down"}));
  CHECK_FALSE(retries_value(retry, Refusal{429, "no_quota"}));
}

TEST_CASE("messages match letter for letter, in exceptions that have one [B6]", "[retry_if]") {
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

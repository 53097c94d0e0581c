#include <encore/clock.hpp>
#include <encore/never_retry.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_on_error_code.hpp>
#include <encore/retry_on_nested.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/unretryable.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

using namespace std::chrono_literals;
using encore::AlsoNested;
using encore::RetryOn;
using encore::RetryOnNested;

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ReadTimeout : TimeoutError {
  using TimeoutError::TimeoutError;
};
struct Throttled : std::runtime_error {
  std::chrono::seconds wait;
  explicit Throttled(std::chrono::seconds w) : std::runtime_error{"slower"}, wait{w} {}
  std::chrono::seconds retry_after() const { return wait; }
};
struct ToolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NotAStdException {};

/// `cause` inside so many wrappers, each of them a `ToolError`.
template <class E>
std::exception_ptr wrapped(const E& cause, int wrappers = 1) {
  auto inside = std::make_exception_ptr(cause);
  for (; wrappers > 0; --wrappers) {
    try {
      try {
        std::rethrow_exception(inside);
      } catch (...) {
        std::throw_with_nested(ToolError{"lookup failed"});
      }
    } catch (...) {
      inside = std::current_exception();
    }
  }
  return inside;
}

/// Calls `ask` with the exception in flight, as a policy does.
template <class Ask>
auto asked(const std::exception_ptr& failure, Ask ask) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return ask(encore::Thrown{&error});
  } catch (...) {
    return ask(encore::Thrown{nullptr});
  }
}
template <class P>
bool retries(const P& predicate, const std::exception_ptr& failure) {
  return asked(failure, [&](const encore::Thrown& thrown) { return predicate.matches(thrown); });
}
template <class P>
std::optional<encore::Duration> hint(const P& predicate, const std::exception_ptr& failure) {
  const encore::SteadyClock clock;
  return asked(failure,
               [&](const encore::Thrown& thrown) { return predicate.hint(thrown, encore::Now{clock}); });
}

}  // namespace

template <>
inline constexpr std::string_view encore::error_name<TimeoutError> = "timeout";

namespace {

static_assert(encore::Predicate<AlsoNested<encore::RetryOnTransientErrorCode>>);
static_assert(std::is_empty_v<RetryOnNested<TimeoutError>>);
static_assert(encore::JudgesValues<AlsoNested<encore::RetryOnTransientErrorCode>, std::error_code>);
static_assert(!encore::JudgesExceptions<AlsoNested<encore::RetryIfNoValue>>);

TEST_CASE("a filter shared by std::ref searches as deep as a copy of it, and so do the never-lists [B5, F4]",
          "[retry_on_nested]") {
  const RetryOnNested<ToolError> filter;
  encore::testing::FakeClock clock;
  const encore::RetryPolicy policy{std::ref(filter), clock, encore::NeverRetry<TimeoutError>{}};
  auto attempts = 0;
  CHECK_THROWS_AS(policy.run([&] {
    ++attempts;
    std::rethrow_exception(wrapped(TimeoutError{"slow"}));
  }),
                  ToolError);
  CHECK(attempts == 1);
}

TEST_CASE("a retryable cause inside a wrapper is matched only on request [B5] (fault 30: fastmcp #3858)",
          "[retry_on_nested]") {
  const auto failure = wrapped(TimeoutError{"slow"});
  CHECK(retries(RetryOnNested<TimeoutError>{}, failure));
  CHECK_FALSE(retries(RetryOn<TimeoutError>{}, failure));
}

TEST_CASE("RetryOnNested matches an exception that is not nested as usual", "[retry_on_nested]") {
  CHECK(retries(RetryOnNested<TimeoutError>{}, std::make_exception_ptr(TimeoutError{"slow"})));
  CHECK(retries(RetryOnNested<NotAStdException>{}, std::make_exception_ptr(NotAStdException{})));
  CHECK_FALSE(retries(RetryOnNested<TimeoutError>{}, std::make_exception_ptr(ToolError{"bad"})));
}

TEST_CASE(
    "a nested exception is matched at any depth, as a catch clause would [B2] [B5] (guava-retrying #27)",
    "[retry_on_nested]") {
  CHECK(retries(RetryOnNested<TimeoutError>{}, wrapped(ReadTimeout{"slow"}, 3)));
  CHECK(retries(RetryOnNested<NotAStdException>{}, wrapped(NotAStdException{}, 2)));
  CHECK_FALSE(retries(RetryOnNested<TimeoutError>{}, wrapped(std::logic_error{"bad"}, 3)));
}

TEST_CASE("a wrapper that is not a std::exception is searched too", "[retry_on_nested]") {
  std::exception_ptr failure;
  try {
    try {
      throw TimeoutError{"slow"};
    } catch (...) {
      std::throw_with_nested(NotAStdException{});
    }
  } catch (...) {
    failure = std::current_exception();
  }
  CHECK(retries(RetryOnNested<TimeoutError>{}, failure));
}

TEST_CASE("RetryOnNested searches 64 exceptions of a chain", "[retry_on_nested]") {
  CHECK(retries(RetryOnNested<TimeoutError>{}, wrapped(TimeoutError{"slow"}, 63)));
  CHECK_FALSE(retries(RetryOnNested<TimeoutError>{}, wrapped(TimeoutError{"slow"}, 64)));
}

TEST_CASE("the search of an exception nested in itself ends", "[retry_on_nested]") {
  struct Circle : std::runtime_error, std::nested_exception {
    Circle() : std::runtime_error{"round and round"} {}
  };
  const auto circle = std::make_exception_ptr(Circle{});
  try {
    std::rethrow_exception(circle);
  } catch (Circle& outer) {
    outer.nested_exception::operator=({});  // holds the exception being handled: itself
  }
  auto looked_at = 0;
  const encore::RetryIf counting{[&](const std::exception&) { return ++looked_at < 0; }};
  CHECK_FALSE(retries(AlsoNested{counting}, circle));
  CHECK(looked_at == encore::deepest_nesting);
  try {
    std::rethrow_exception(circle);
  } catch (Circle& outer) {
    try {
      throw TimeoutError{"slow"};
    } catch (...) {
      outer.nested_exception::operator=({});  // cut open, or it would never be freed
    }
  }
  CHECK(retries(RetryOnNested<TimeoutError>{}, circle));
}

// How many attempts a policy makes of a call that always fails so.
template <class Predicate, class... More>
int attempts_of(const std::exception_ptr& failure, const Predicate& predicate, const More&... more) {
  encore::testing::FakeClock clock;
  auto attempts = 0;
  const encore::RetryPolicy policy{clock, predicate, more...};
  const auto fail = [&] {
    ++attempts;
    std::rethrow_exception(failure);
  };
  CHECK_THROWS(policy.run(fail));
  return attempts;
}
// `Outer` around an `inner`.
template <class Outer>
std::exception_ptr around(const std::exception_ptr& inner) {
  try {
    try {
      std::rethrow_exception(inner);
    } catch (...) {
      std::throw_with_nested(Outer{"outside"});
    }
  } catch (...) {
    return std::current_exception();
  }
}
const auto cancelled_code = std::system_error{std::make_error_code(std::errc::operation_canceled)};

TEST_CASE("cancellation is not retried, however it is wrapped [B4, B5] (fault 29: tenacity #529)",
          "[retry_on_nested]") {
  const auto every = AlsoNested{encore::RetryOnEveryException{}};
  CHECK(attempts_of(wrapped(ToolError{"bad"}, 2), every) == 3);
  CHECK(attempts_of(wrapped(encore::Cancelled{}, 2), every) == 1);
  CHECK(attempts_of(wrapped(encore::Cancelled{}, 2), encore::RetryOnEveryException{}) ==
        3);  // it does not look inside
}

TEST_CASE("a nested operation_canceled is a failure like any other if the filter matches what wraps it [B4]",
          "[retry_on_nested]") {
  const auto cancelled = std::make_exception_ptr(cancelled_code);
  const RetryOnNested<TimeoutError> timeout;
  CHECK(attempts_of(around<TimeoutError>(cancelled), timeout) == 3);
  CHECK(attempts_of(around<ToolError>(around<TimeoutError>(cancelled)), timeout) == 3);
  CHECK(attempts_of(around<TimeoutError>(around<ToolError>(cancelled)), timeout) == 3);
  // What wraps it is not matched: by what is nested deeper, or by the cancellation itself.
  struct CancelledAround : std::system_error, std::nested_exception {
    CancelledAround() : std::system_error{cancelled_code} {}
  };
  const auto deeper = [] {
    try {
      try {
        throw TimeoutError{"slow"};
      } catch (...) {
        throw CancelledAround{};
      }
    } catch (...) {
      return std::current_exception();
    }
  }();
  CHECK(attempts_of(deeper, timeout) == 1);
  CHECK(attempts_of(around<ToolError>(deeper), timeout) == 1);
  CHECK(attempts_of(around<ToolError>(cancelled), RetryOnNested<std::system_error>{}) == 1);
  // A filter that names it means it, at any depth.
  CHECK(attempts_of(around<ToolError>(cancelled),
                    AlsoNested{encore::RetryOnErrorCode{std::errc::operation_canceled}}) == 3);
  CHECK(attempts_of(around<TimeoutError>(cancelled),
                    RetryOnNested<TimeoutError>{} || RetryOnNested<ReadTimeout>{}) == 3);
  CHECK(attempts_of(around<TimeoutError>(cancelled), timeout && RetryOnNested<std::exception>{}) == 3);
}

// Found as never_list_looks_as_deep_as_the_filter.
TEST_CASE(
    "the never-lists look as deep as the filter, and take precedence [B5] (temporal documentation #4605, "
    "sdk-go #275)",
    "[retry_on_nested]") {
  struct Closed : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const auto slow = std::make_exception_ptr(TimeoutError{"slow"});
  const auto closed = std::make_exception_ptr(Closed{"closed"});
  const auto check = [&](const auto& never) {
    const RetryOnNested<TimeoutError> filter;
    CHECK(attempts_of(around<TimeoutError>(closed), filter, never) == 1);
    CHECK(attempts_of(around<Closed>(slow), filter, never) == 1);
    CHECK(attempts_of(around<ToolError>(around<Closed>(slow)), filter, never) == 1);
    CHECK(attempts_of(around<ToolError>(slow), filter, never) == 3);
    CHECK(attempts_of(around<TimeoutError>(closed), RetryOn<TimeoutError>{}, never) ==
          3);  // it does not look inside
    CHECK(attempts_of(around<ToolError>(around<Closed>(slow)), filter || RetryOn<int>{}, never) == 1);
    CHECK(attempts_of(around<ToolError>(around<Closed>(slow)), RetryOn<int>{} || filter, never) == 1);
    CHECK(attempts_of(around<ToolError>(around<Closed>(slow)), !!filter, never) == 1);
  };
  check(encore::NeverRetry<Closed>{});
  check(encore::NeverRetryIf{[](const Closed&) { return true; }});
  check(encore::NeverRetryIf{[](const encore::Thrown& failure) { return failure.is<Closed>(); }});
  const encore::NeverRetryIf throwing{[](const Closed&) -> bool { throw 42; }};
  CHECK(attempts_of(around<TimeoutError>(closed), RetryOnNested<TimeoutError>{}, throwing) == 1);
}

// Found as cancelled_inside_one_side_of_an_or.
TEST_CASE(
    "what is never retried is searched as deep as either side of an || searches, whichever side would match "
    "the wrapper [B4, B5]",
    "[retry_on_nested]") {
  const auto failure = around<ToolError>(std::make_exception_ptr(encore::Cancelled{}));
  CHECK(attempts_of(failure, AlsoNested{RetryOn<TimeoutError>{} || RetryOn<ToolError>{}}) == 1);
  CHECK(attempts_of(failure, AlsoNested{RetryOn<TimeoutError>{}} || RetryOn<ToolError>{}) == 1);
  CHECK(attempts_of(failure, RetryOn<ToolError>{} || AlsoNested{RetryOn<TimeoutError>{}}) == 1);
  CHECK(attempts_of(failure, RetryOn<ToolError>{} && !AlsoNested{RetryOn<TimeoutError>{}}) == 1);
  CHECK(attempts_of(failure, RetryOn<ToolError>{}) == 3);
}

TEST_CASE("any predicate can be evaluated for nested exceptions, and combined [B5] [B6]",
          "[retry_on_nested]") {
  const AlsoNested on_reset{encore::RetryOnErrorCode{std::errc::connection_reset}};
  const auto reset = wrapped(std::system_error{std::make_error_code(std::errc::connection_reset)}, 2);
  CHECK(retries(on_reset, reset));
  CHECK(retries(RetryOnNested<TimeoutError>{} || on_reset, reset));
  CHECK_FALSE(retries(RetryOnNested<TimeoutError>{} && on_reset, reset));
}

TEST_CASE("RetryOnNested judges a value as its inner predicate does [B8]", "[retry_on_nested]") {
  const AlsoNested no_value{encore::RetryIfNoValue{}};
  const std::optional<int> none;
  CHECK(no_value.matches(encore::Returned<std::optional<int>>{none, {}}));
}

TEST_CASE("the hint of a nested exception is used [E5]", "[retry_on_nested]") {
  CHECK(hint(RetryOnNested<Throttled>{}, wrapped(Throttled{7s}, 2)) == 7s);
  CHECK(hint(RetryOnNested<Throttled>{}, wrapped(TimeoutError{"slow"}, 2)) == std::nullopt);
  CHECK(hint(RetryOnNested<TimeoutError>{} || RetryOnNested<Throttled>{}, wrapped(Throttled{7s}, 2)) == 7s);
}

TEST_CASE("the outermost hint of a chain of exceptions holds", "[retry_on_nested]") {
  std::exception_ptr failure;
  try {
    try {
      throw Throttled{60s};
    } catch (...) {
      std::throw_with_nested(Throttled{7s});
    }
  } catch (...) {
    failure = std::current_exception();
  }
  CHECK(hint(RetryOnNested<Throttled>{}, failure) == 7s);
}

TEST_CASE("the registered name of a nested exception is used", "[retry_on_nested]") {
  const auto name = asked(wrapped(ReadTimeout{"slow"}, 2), [](const encore::Thrown& thrown) {
    return std::string{RetryOnNested<TimeoutError>{}.name(thrown)};
  });
  CHECK(name == "timeout");
}

TEST_CASE("an exception from a predicate on a nested exception propagates from it [B7]",
          "[retry_on_nested]") {
  struct Broken {};
  const AlsoNested broken{encore::RetryIf{[](const TimeoutError&) -> bool { throw Broken{}; }}};
  CHECK_THROWS_AS(retries(broken, wrapped(TimeoutError{"slow"})), Broken);
}

}  // namespace

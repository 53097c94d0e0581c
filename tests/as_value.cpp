#include <encore/any_retry_policy.hpp>
#include <encore/as_value.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>
#include <encore/testing/task.hpp>
#include <encore/wrapped.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

using namespace encore;
using namespace encore::testing;

TEST_CASE("a callable in as_value, whose result is a handle, is retried until it has returned one [A8]",
          "[as_value]") {
  FakeClock clock;
  auto sent = 0;
  const auto send = [&](const Attempt& attempt) {
    if (attempt.ordinal < 3) throw std::runtime_error{"no connection"};
    return std::async(std::launch::deferred, [&] { return ++sent; });
  };
  const RetryPolicy policy{RetryOn<std::runtime_error>{}, clock};
  auto reply = policy.run(as_value(send));
  CHECK(sent == 0);
  CHECK(reply.get() == 1);
  CHECK(clock.sleeps().size() == 2);

  auto task = policy.run(as_value([](int number) -> Task<int> { co_return number; }), 17);
  task.start();
  CHECK(task.result() == 17);

  const AnyRetryPolicy<std::future<int>> any{policy};
  CHECK(any.run(as_value([] { return std::async(std::launch::deferred, [] { return 17; }); })).get() == 17);
}

TEST_CASE("a callable in as_value is stored by value, and shared by std::ref [A8]", "[as_value]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<std::runtime_error>{}, clock};
  Scripted<int> script{throws<std::runtime_error>("slow"), returns(17)};
  CHECK(policy.run(as_value(std::ref(script))) == 17);
  CHECK(script.calls() == 2);
  CHECK(policy.run(as_value([kept = std::make_unique<int>(5)] { return *kept; })) == 5);
  CHECK(policy.run(as_value([count = 0]() mutable { return ++count; })) == 1);
  struct Point {
    int x;
  };
  CHECK(policy.run(as_value(&Point::x), Point{3}) == 3);
  const auto wrapped = policy.wrap("send", as_value([](int number) { return number; }));
  CHECK(wrapped(4) == 4);
}

TEST_CASE("results that only look like a future are accepted as results [A8]", "[as_value]") {
  struct Response {
    int status;
    std::optional<std::chrono::seconds> wait() const { return {}; }
    int get() const { return status; }
  };
  const RetryPolicy policy{RetryOn<std::runtime_error>{}};
  CHECK(policy.run([] { return Response{200}; }).get() == 200);
}

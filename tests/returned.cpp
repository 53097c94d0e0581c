#include <encore/retry_policy.hpp>
#include <encore/returned.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

using namespace std::chrono_literals;
using encore::testing::Durations;
using encore::testing::FakeClock;

namespace {

struct Response {
  int status = 200;
};

// A user's own predicate, without any other of the library's.
struct RetryWhileBusy {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = true;
  bool matches(const encore::Returned<Response>& returned) const {
    return returned.value.status == 503 && returned.attempt.ordinal < 3;
  }
};

const encore::RetryPolicy polite{RetryWhileBusy{}, encore::NoJitter{}};

TEST_CASE("a user's own test of returned values is asked with the value and its attempt [B8, A4]",
          "[returned]") {
  FakeClock clock;
  auto attempts = 0;
  const auto last = polite.with(clock, encore::MaxRetries{5}).run([&](const encore::Attempt&) {
    return Response{.status = ++attempts < 9 ? 503 : 200};
  });
  CHECK(last.status == 503);
  CHECK(attempts == 3);  // the third is no failure to that test
  CHECK(clock.sleeps() == Durations{1s, 2s});
}

TEST_CASE("a value that is no failure is returned as it is, after one attempt [B8]", "[returned]") {
  FakeClock clock;
  auto attempts = 0;
  CHECK(polite.with(clock).run([&] { return ++attempts, Response{.status = 404}; }).status == 404);
  CHECK(attempts == 1);
  CHECK(clock.sleeps().empty());
}

}  // namespace

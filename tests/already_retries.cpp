#include <encore/agent/tool_catalog.hpp>
#include <encore/already_retries.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/log_text.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace encore;
using namespace encore::testing;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

static_assert(RetryPolicy{RetryOnEveryException{}, MaxAttempts{4}, AlreadyRetries{3}}.max_requests() == 12);
static_assert(RetryPolicy{RetryOnEveryException{}, MaxAttempts{4}}.max_requests() == 4);
static_assert(RetryPolicy{RetryOnEveryException{}, UnlimitedRetries{}, AlreadyRetries{3}}.max_requests() ==
              std::nullopt);
static_assert(max_requests_of(std::numeric_limits<int>::max(), std::numeric_limits<int>::max()) ==
              4'611'686'014'132'420'609);  // (2^31 - 1)^2

TEST_CASE(
    "AlreadyRetries reports the product of inner and outer attempts, and changes the number of attempts not "
    "at all (fault 40: livekit #5335, nanobot #2759) [J1]",
    "[already_retries]") {
  for (const bool takes_attempt : {false, true}) {
    CAPTURE(takes_attempt);
    FakeClock clock;
    Recorder trace;
    const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxAttempts{4}, AlreadyRetries{3}, clock, trace};
    int requests = 0;
    const auto client = [&] {
      requests += 3;  // the client's own
      throw TimeoutError{"slow"};
    };
    if (takes_attempt)
      CHECK_THROWS_AS(policy.run({.id = "1"}, [&](const Attempt&) { client(); }), TimeoutError);
    else
      CHECK_THROWS_AS(policy.run({.id = "1"}, client), TimeoutError);
    CHECK(requests == 12);
    CHECK(policy.max_requests() == requests);
    for (const auto& event : trace.events()) {
      CHECK(event.max_attempts == 4);
      CHECK(event.inner_attempts == 3);
    }
  }
}

TEST_CASE("a success reports the product of inner and outer attempts as well [J1]", "[already_retries]") {
  std::vector<std::optional<std::int64_t>> told;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, AlreadyRetries{3},
                           Observe{[&](const Event& event) { told.push_back(event.max_requests()); }}};
  policy.run({.id = "1"}, [] {});
  CHECK(told == std::vector<std::optional<std::int64_t>>(3, 9));
}

TEST_CASE(
    "a failure has the product of inner and outer attempts, and logs show it only where layers multiply [G2, "
    "J1]",
    "[already_retries]") {
  FakeClock clock;
  const RetryPolicy plain{RetryOn<TimeoutError>{}, ReturnOutcome{}, MaxAttempts{2}, clock};
  const auto fails = []() -> int { throw TimeoutError{"slow"}; };
  const auto outcome = plain.with(AlreadyRetries{5}).run({.id = "1"}, fails);
  CHECK(outcome.failure().max_requests() == 10);
  CHECK(log_text(outcome.failure()).find(" max_requests=10 ") != std::string::npos);
  const auto single = plain.run({.id = "1"}, fails);
  CHECK(single.failure().max_requests() == 2);
  CHECK(log_text(single.failure()).find("max_requests") == std::string::npos);
}

TEST_CASE("a catalog shows the requests of inner layers beside the attempts [J1]", "[already_retries]") {
  ToolCatalog catalog;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, MaxAttempts{4}, AlreadyRetries{3}};
  catalog.add("lookup", ReplaySafety::repeatable, policy, [](const ToolCall&) {});
  catalog.add("ship", policy, [](const ToolCall&) {});
  const auto tools = catalog.describe();
  CHECK(tools[0].max_attempts == 4);
  CHECK(tools[0].max_requests() == 12);
  CHECK(tools[1].max_attempts == 1);
  CHECK(tools[1].max_requests() == 3);  // it is not repeated here, and yet the client inside repeats it
}

TEST_CASE("AlreadyRetries with fewer than one attempt is invalid [C3]", "[already_retries]") {
  CHECK_THROWS_AS(AlreadyRetries{0}, std::invalid_argument);
  CHECK(RetryPolicy{RetryOnEveryException{}, AlreadyRetries{1}}.max_requests() == 3);
}

}  // namespace

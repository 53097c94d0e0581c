#include <encore/before_retry.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt, encore::RetryOn, encore::RetryPolicy;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}, encore::UnlimitedRetries{}};

TEST_CASE("BeforeRetry runs after each wait and before each retry, with the call's own attempt [A4, I2]",
          "[before_retry]") {
  FakeClock clock;
  std::vector<std::string> log;
  const encore::Call call{.id = "call-17", .name = "lookup", .operation_key = "order-5"};
  const auto tool = [&] {
    log.push_back("attempt at " + std::to_string(clock.now().time_since_epoch() / 1s));
    if (log.size() < 4) throw TimeoutError{};
  };
  plain
      .with(clock, encore::BeforeRetry{[&](const Attempt& attempt) {
              log.push_back(std::string{attempt.call_id()} + ' ' + std::string{attempt.call_name()} + ' ' +
                            std::to_string(attempt.ordinal) + ' ' + attempt.idempotency_key());
            }})
      .run(call, tool);
  CHECK(log == std::vector<std::string>{"attempt at 0", "call-17 lookup 2 order-5", "attempt at 1",
                                        "call-17 lookup 3 order-5", "attempt at 3"});

  int refreshed = 0, attempts = 0;
  plain.with(clock, encore::BeforeRetry{[&] { ++refreshed; }}).run([&] {
    if (++attempts < 3) throw TimeoutError{};
  });
  CHECK(refreshed == 2);
}

TEST_CASE("the result of BeforeRetry is discarded, and need not be copyable", "[before_retry]") {
  FakeClock clock;
  const auto connection = std::make_unique<int>(17);
  auto attempts = 0;
  const auto policy =
      plain.with(clock, encore::MaxRetries{2},
                 encore::BeforeRetry{[&]() -> const std::unique_ptr<int>& { return connection; }});
  CHECK_THROWS(policy.run([&] {
    ++attempts;
    throw TimeoutError{};
  }));
  CHECK(attempts == 3);
}

TEST_CASE("a BeforeRetry that throws is that attempt's failure, judged like any other [B3]",
          "[before_retry]") {
  FakeClock clock;
  int attempts = 0, prepared = 0;
  const auto policy = plain.with(clock, encore::BeforeRetry{[&] {
                                   if (++prepared == 1) throw TimeoutError{};
                                   if (prepared == 3) throw std::logic_error{"bug"};
                                 }});
  CHECK_THROWS_AS(policy.run([&] {
    ++attempts;
    throw TimeoutError{};
  }),
                  std::logic_error);
  CHECK(attempts == 2);  // 1 and 3: the second was over before its callable ran
  CHECK(clock.sleeps() == Durations{1s, 2s, 4s});
}

}  // namespace

#include "flat_json.hpp"
#include "hand_made.hpp"
#include <encore/outcome.hpp>
#include <encore/telemetry/format.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;
using encore::EventKind;
using encore::Failure;
using encore::Outcome;
using encore::StopReason;
using tests::TimeoutError;

const tests::StillClock clock{};
std::optional<encore::TimePoint> started{};

encore::Event failed_with(const encore::Thrown& thrown) {
  auto event = tests::event_of(EventKind::attempt_failed, 1, clock, started);
  event.will_retry = true;
  event.wait = 250ms;
  event.thrown = &thrown;
  return event;
}

Failure exhausted() {
  return {.call_id = "call-17",
          .call_name = "inventory_lookup",
          .reason = StopReason::retries_exhausted,
          .attempts = 3,
          .max_attempts = 3,
          .error = std::make_exception_ptr(TimeoutError{"slow"})};
}

TEST_CASE("fmt formats an event as a line of logfmt or of JSON, with exception text on request [F6]",
          "[format]") {
  tests::in_handler_of(TimeoutError{"db-1"}, [](const encore::Thrown& thrown) {
    const auto event = failed_with(thrown);
    CHECK(fmt::format("{}", event) ==
          "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=tests::TimeoutError "
          "retry_in=0.25s");
    CHECK(fmt::format("{:x}", event) ==
          "event=attempt_failed call=call-17 tool=inventory_lookup attempt=1/3 error=tests::TimeoutError "
          "message=db-1 retry_in=0.25s");
    const auto json = fmt::format("{:j}", event);
    const auto json_with_text = fmt::format("{:jx}", event);
    CHECK(json == log_text(event, {.shape = encore::LineShape::json}));
    CHECK(json.find("exception.message") == std::string::npos);
    CHECK(json_with_text.find(R"("exception.message":"db-1")") != std::string::npos);
    CHECK(fmt::format("{:xj}", event) == json_with_text);
  });
}

TEST_CASE("a formatted event can be part of other text, and go to any output", "[format]") {
  std::string out;
  fmt::format_to(std::back_inserter(out), "[{}] {:x}!\n", 7, exhausted());
  CHECK(out ==
        "[7] call=call-17 tool=inventory_lookup attempts=3/3 error=tests::TimeoutError message=slow "
        "reason=retries_exhausted slept=0s elapsed=0s!\n");
}

TEST_CASE("fmt formats failures and outcomes of any type", "[format]") {
  CHECK(fmt::format("{}", exhausted()) == log_text(exhausted()));
  CHECK(fmt::format("{}", Outcome<int>{exhausted()}) == log_text(exhausted()));
  CHECK(fmt::format("{:j}", Outcome<void>{exhausted()}) ==
        log_text(exhausted(), {.shape = encore::LineShape::json}));

  struct NotFormattable {};
  CHECK(fmt::format("{}",
                    Outcome<NotFormattable>{NotFormattable{}, {StopReason::succeeded, 2, 300ms, 250ms, 0}}) ==
        "attempts=2 reason=succeeded slept=0.25s elapsed=0.3s");
}

TEST_CASE("fmt formats reasons, events and modes by name, as any string [G7]", "[format]") {
  CHECK(fmt::format("{}", StopReason::retries_exhausted) == "retries_exhausted");
  CHECK(fmt::format("{}", EventKind::attempt_failed) == "attempt_failed");
  CHECK(fmt::format("{}", encore::TerminalMode::error_result) == "error_result");
  CHECK(fmt::format("{:>10}|{:<10}|{:.4}", StopReason::deadline, StopReason::deadline,
                    StopReason::deadline) == "  deadline|deadline  |dead");
}

TEST_CASE("a format specification without meaning is rejected", "[format]") {
  const auto failure = exhausted();
  for (const char* const wrong : {"{:q}", "{:jj}", "{:xx}", "{:>10}", "{:jxj}"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(fmt::format(fmt::runtime(wrong), failure), fmt::format_error);
  }
}

}  // namespace

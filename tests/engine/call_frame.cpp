#include <encore/encore.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <string>

using namespace encore;
using namespace std::chrono_literals;

TEST_CASE("a call's limits combine the policy's and its own [D2]", "[call_frame]") {
  const RetryPolicy policy{RetryOnEveryException{}, TimeBudget{5s}, AttemptTimeout{2s}};
  const std::optional<TimePoint> started{TimePoint{Duration{10s}}};
  const Call call{.deadline = TimePoint{Duration{12s}}};
  const auto limits = detail::limits_of(policy, call, started);
  CHECK(limits.end() == TimePoint{Duration{12s}});
  CHECK(limits.remaining(TimePoint{Duration{11s}}) == 1s);
  CHECK(limits.attempt_timeout == Duration{2s});
  CHECK(detail::limits_of(policy, {}, started).end() == TimePoint{Duration{15s}});
  CHECK(!detail::limits_of(policy.without<role::TimeBudget>(), {}, std::nullopt).bounded());
}

TEST_CASE("a call frame's attempt sees the call, its limits and its notes [D6 F6]", "[call_frame]") {
  testing::FakeClock clock;
  const Call call{.id = "call-1", .name = "lookup"};
  detail::CallFrame frame{call, {.attempt_timeout = 3s}, Now{clock}};
  CHECK(frame.attempt.ordinal == 1);
  CHECK(frame.attempt.call_id() == "call-1");
  CHECK(frame.attempt.call_name() == "lookup");
  CHECK(frame.attempt.remaining() == Duration{3s});
  frame.attempt.note_status(503);
  CHECK(frame.notes.status() == 503);
}

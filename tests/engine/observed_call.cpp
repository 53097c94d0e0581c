#include <encore/encore.hpp>
#include <encore/engine/observed_call.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

using namespace encore;
using encore::detail::mode_of;
using encore::testing::FakeClock;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Policy>
struct Told : encore::detail::ObservedCall<Policy> {
  using Base = encore::detail::ObservedCall<Policy>;
  using Base::Base, Base::notify_failed, Base::notify_finished, Base::notify_started, Base::reason_,
      Base::slept_;
};

struct Heard {
  EventKind kind;
  int ordinal;
  bool will_retry;
  StopReason reason;
  Duration wait;
  TerminalMode mode;
  friend bool operator==(const Heard&, const Heard&) = default;
};

TEST_CASE("each step of a call is reported with what is known of it, the end last [F1, F2]",
          "[observed_call]") {
  FakeClock clock;
  std::vector<Heard> heard;
  const RetryPolicy policy{
      RetryOn<Slow>{}, MaxRetries{2}, clock, Observe{[&](const Event& event) {
        CHECK(event.id == "call-1");
        heard.push_back({event.kind, event.ordinal, event.will_retry, event.reason, event.wait, event.mode});
      }}};
  using Policy = encore::detail::PartsOf<decltype(policy)>;
  const Call call{.id = "call-1"};
  const std::optional<TimePoint> started{clock.now()};
  encore::detail::CallFrame frame{call, encore::detail::limits_of(policy, call, started), Now{clock}};
  Told<Policy> told{policy_parts(policy), frame, started, 0};
  told.notify_started();
  told.notify_failed({.wait = 3s}, std::nullopt, nullptr);
  told.reason_ = StopReason::retries_exhausted;
  told.notify_finished(TerminalMode::exception, nullptr);
  CHECK(heard ==
        std::vector<Heard>{{EventKind::attempt_started, 1, false, StopReason::none, 0s, TerminalMode::none},
                           {EventKind::attempt_failed, 1, true, StopReason::none, 3s, TerminalMode::none},
                           {EventKind::call_finished, 1, false, StopReason::retries_exhausted, 0s,
                            TerminalMode::exception}});
  clock.advance(5s);
  CHECK(told.elapsed() == 5s);
  CHECK(!told.is_last());
  frame.attempt.ordinal = 3;
  CHECK(told.is_last());
}

TEST_CASE(
    "a call's terminal mode is the strategy's where the strategy handles the failure, else result or "
    "exception [B3, G7]",
    "[observed_call]") {
  const RetryPolicy rethrows{RetryOn<Slow>{}};
  const auto gives = rethrows.with(ReturnOutcome{});
  using Rethrows = encore::detail::PartsOf<decltype(rethrows)>;
  using Gives = encore::detail::PartsOf<decltype(gives)>;
  CHECK(mode_of<Rethrows>(StopReason::succeeded, false) == TerminalMode::result);
  CHECK(mode_of<Rethrows>(StopReason::retries_exhausted, true) == TerminalMode::exception);
  CHECK(mode_of<Rethrows>(StopReason::retries_exhausted, false) == TerminalMode::result);
  CHECK(mode_of<Gives>(StopReason::retries_exhausted, true) == ReturnOutcome::mode);
  CHECK(mode_of<Gives>(StopReason::not_retryable, true) == TerminalMode::exception);
  CHECK(mode_of<encore::detail::PartsOf<decltype(gives.with(HandleUnmatched{}))>>(
            StopReason::not_retryable, true) == ReturnOutcome::mode);
}

}  // namespace

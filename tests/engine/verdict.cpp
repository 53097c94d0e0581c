#include <encore/encore.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/verdict.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

using namespace encore;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ComeBack : std::runtime_error {
  ComeBack() : std::runtime_error{"come back"} {}
  std::chrono::seconds retry_after() const { return 7s; }
};

template <class Policy, class Error>
StopReason verdict(const Policy& policy, const Error& thrown) {
  try {
    throw thrown;
  } catch (const std::exception& error) {
    return detail::judge(policy_parts(policy), Thrown{&error});
  } catch (...) {
    return detail::judge(policy_parts(policy), Thrown{nullptr});
  }
}

/// Notes as a callable would leave them.
struct Noted {
  bool key, dispatched, answered;
};
StopReason replay(ReplaySafety safety, Noted noted, bool key_used_before = false) {
  const Call call{.id = "call-1"};
  SteadyClock clock;
  detail::CallFrame frame{call, {}, Now{clock}};
  if (noted.key) static_cast<void>(frame.attempt.idempotency_key());
  if (noted.dispatched) frame.attempt.mark_dispatched();
  if (noted.answered) frame.attempt.mark_answered();
  return detail::replay_verdict(safety, frame.notes, key_used_before || noted.key);
}

}  // namespace

TEST_CASE("an exception's verdict depends on filter, never-list and what is never retried [B3 B4 B7]",
          "[verdict]") {
  const RetryPolicy narrow{RetryOn<Slow>{}};
  CHECK(verdict(narrow, Slow{"slow"}) == StopReason::none);
  CHECK(verdict(narrow, std::logic_error{"wrong"}) == StopReason::not_retryable);
  CHECK(verdict(narrow, Cancelled{}) == StopReason::not_retryable);  // leaves either way
  CHECK(verdict(narrow.with(HandleUnmatched{}), Cancelled{}) == StopReason::never_retry_type);

  const RetryPolicy broad{RetryOnEveryException{}, NeverRetry<Slow>{}};
  CHECK(verdict(broad, Slow{"slow"}) == StopReason::never_retry_type);
  CHECK(verdict(broad, Cancelled{}) == StopReason::never_retry_type);
  CHECK(verdict(broad, 17) == StopReason::none);

  const RetryPolicy throws{RetryIf{[](const Slow&) -> bool { throw std::logic_error{"in the predicate"}; }}};
  CHECK(verdict(throws, Slow{"slow"}) == StopReason::predicate_threw);

  const RetryPolicy never_throws{RetryOn<Slow>{}, NeverRetryIf{[](const Slow&) -> bool { throw 1; }}};
  CHECK(verdict(never_throws, Slow{"slow"}) == StopReason::predicate_threw);

  const RetryPolicy values_only{RetryIfResult{[](int x) { return x < 0; }}};
  CHECK(verdict(values_only, Slow{"slow"}) == StopReason::not_retryable);
}

TEST_CASE("a call may be repeated according to safety, key and marks [I1 I3]", "[verdict]") {
  using enum ReplaySafety;
  using enum StopReason;
  for (const auto key : {false, true})
    for (const auto sent : {false, true})
      for (const auto answered : {false, true}) {
        INFO("key " << key << ", dispatched " << sent << ", answered " << answered);
        const Noted noted{key, sent, answered};
        const auto unknown = sent && !answered;
        CHECK(replay(repeatable, noted) == none);
        CHECK(replay(never, noted) == (unknown ? unknown_outcome : not_repeatable));
        CHECK(replay(repeatable_with_key, noted) == (key       ? none
                                                     : unknown ? unknown_outcome
                                                               : not_repeatable));
      }
}

TEST_CASE(
    "a key sent by an earlier attempt allows repeating one that sent nothing, not one that sent no key [I3]",
    "[verdict]") {
  CHECK(replay(ReplaySafety::repeatable_with_key, {false, false, false}, true) == StopReason::none);
  CHECK(replay(ReplaySafety::repeatable_with_key, {false, true, false}, true) == StopReason::unknown_outcome);
}

TEST_CASE("a hint comes from the policy's own source first, and a source that throws gives none [E5]",
          "[verdict]") {
  SteadyClock clock;
  const auto hint = [&](const auto& policy) {
    try {
      throw ComeBack{};
    } catch (const std::exception& error) {
      return detail::hint_from(policy_parts(policy), Thrown{&error}, Now{clock});
    }
  };
  const RetryPolicy policy{RetryOn<ComeBack>{}};
  CHECK(hint(policy) == Duration{7s});
  CHECK(hint(policy.with(HintFrom{[](const ComeBack&) { return 3s; }})) == Duration{3s});
  CHECK(hint(policy.with(HintFrom{
            [](const ComeBack&) -> std::optional<Duration> { return std::nullopt; }})) == Duration{7s});
  CHECK(hint(policy.with(HintFrom{[](const ComeBack&) -> Duration { throw 1; }})) == std::nullopt);
}

TEST_CASE(
    "an attempt that would begin at the limit, or leave less than the minimum attempt time, is too late [D3 "
    "D4]",
    "[verdict]") {
  STATIC_REQUIRE(detail::time_verdict(3s, 2s, 0s) == StopReason::none);
  STATIC_REQUIRE(detail::time_verdict(2s, 2s, 0s) == StopReason::deadline);
  STATIC_REQUIRE(detail::time_verdict(0s, 0s, 0s) == StopReason::deadline);
  STATIC_REQUIRE(detail::time_verdict(3s, 2s, 1s) == StopReason::none);
  STATIC_REQUIRE(detail::time_verdict(3s, 2s, 1001ms) == StopReason::too_little_time_left);
  STATIC_REQUIRE(detail::time_verdict((Duration::max)(), max_wait, 1s) == StopReason::none);
}

#include "asking.hpp"
#include "read_only.hpp"
#include <encore/failure.hpp>
#include <encore/guard/retry_quota.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::AwsRetryQuota, encore::GrpcRetryThrottling, encore::RetryQuota, encore::RetryOn;
using guard_test::Asking;

namespace {

struct Transient : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Throttling : Transient {
  using Transient::Transient;
};
struct Permanent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static_assert(encore::Guard<RetryQuota<>> && encore::Guard<RetryQuota<RetryOn<Throttling>>>);
static_assert(!std::is_copy_constructible_v<RetryQuota<>::Permit>, "a permit is given back once");
static_assert(std::is_nothrow_move_constructible_v<RetryQuota<>::Permit>);
static_assert(std::is_same_v<decltype(RetryQuota{AwsRetryQuota{}}), RetryQuota<>>);
static_assert(!std::is_constructible_v<RetryQuota<RetryOn<Throttling>>, GrpcRetryThrottling>,
              "gRPC has one price");

bool retry_fails(RetryQuota<>& quota, const Asking& asking) {
  auto permit = quota.admit(asking.retry());
  if (!permit) return false;
  permit->began(asking.now);
  permit->failed(asking.now, true);
  return true;
}

struct Setting {
  FakeClock clock{};
  auto policy(auto& quota, int retries) {
    return encore::RetryPolicy{
        clock,
        quota,
        RetryOn<Transient>{} || encore::RetryIfResult{[](int status) { return status >= 400; }},
        encore::MaxRetries{retries},
        encore::NoJitter{},
        encore::ConstantBackoff{.delay = 1s}};
  }
};

// What a total outage of so many calls adds to them.
int retries_in_an_outage(auto& quota, int retries, int calls, auto attempt) {
  Setting setting;
  const auto policy = setting.policy(quota, retries);
  int attempts = 0;
  for (int i = 0; i < calls; ++i) {
    try {
      static_cast<void>(policy.run([&]() -> int { return ++attempts, attempt(); }));
    } catch (const Transient&) {}
  }
  return attempts - calls;
}
int down() { throw Transient{"down"}; }
int throttles() { throw Throttling{"too fast"}; }

// ---- gRPC -------------------------------------------------------------------------------------------------------------

TEST_CASE("with gRPC's throttling, 10 tokens and ratio 0.1 give exactly 4 retries in a total outage [H4]",
          "[retry_quota]") {
  RetryQuota quota{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
  // 9 retry, 8 retry, 7 retry, 6 retry, 5 is not more than half
  CHECK(retries_in_an_outage(quota, 1000, 1, down) == 4);
  CHECK(quota.tokens() == 5.0);
  CHECK(retries_in_an_outage(quota, 1000, 10, down) == 0);
  CHECK(quota.tokens() == 0.0);  // first attempts still count, down to the bottom

  RetryQuota odd{GrpcRetryThrottling{.max_tokens = 5}};  // 4 retry, 3 retry, 2 is less than half
  CHECK(retries_in_an_outage(odd, 1000, 1, down) == 2);
}

TEST_CASE("as in gRPC's own test, a quota with 4 tokens and ratio 1.6 counts [H4]", "[retry_quota]") {
  // 'f' a failure after which a retry is allowed, 'x' one after which it is not, 's' a success; the count after each.
  // (grpc/grpc, test/core, retry_throttle_test: ServerRetryThrottleData, Basic)
  struct Step {
    char what;
    double tokens;
  };
  constexpr Step steps[]{{'f', 3},   {'s', 4},   {'f', 3},   {'x', 2},   {'x', 1},
                         {'x', 0},   {'x', 0},   {'s', 1.6}, {'s', 3.2}, {'f', 2.2},
                         {'x', 1.2}, {'s', 2.8}, {'x', 1.8}, {'s', 3.4}, {'f', 2.4}};
  Asking asking;
  RetryQuota quota{GrpcRetryThrottling{.max_tokens = 4, .token_ratio = 1.6}};
  for (const auto& step : steps) {
    CAPTURE(step.what, step.tokens);
    if (step.what == 's') {
      CHECK(guard_test::attempt_succeeds(quota, asking));
    } else {
      guard_test::attempt_fails(quota, asking);
      CHECK(quota.admit(asking.retry()).has_value() == (step.what == 'f'));
    }
    CHECK(quota.tokens() == step.tokens);
  }
}

TEST_CASE(
    "as in gRPC, failures that are not worth a retry do not count, and retries count as any attempt [H4]",
    "[retry_quota]") {
  Asking asking;
  RetryQuota quota{GrpcRetryThrottling{}};
  for (int i = 0; i < 20; ++i) guard_test::attempt_fails(quota, asking, false);
  CHECK(quota.tokens() == 10.0);
  for (int i = 0; i < 3; ++i) guard_test::attempt_fails(quota, asking);
  CHECK(retry_fails(quota, asking));
  CHECK(quota.tokens() == 6.0);
  auto retry = quota.admit(asking.retry());
  CHECK(quota.tokens() == 6.0);  // an admission takes nothing
  retry->began(asking.now);
  retry->succeeded(asking.now);
  CHECK(quota.tokens() == 6.1);
}

TEST_CASE("as in gRPC, a waiting retry is refused when its wait ends if the tokens ran low meanwhile [H2]",
          "[retry_quota]") {
  Asking asking;
  RetryQuota quota{GrpcRetryThrottling{}};
  auto waiting = quota.admit(asking.retry(1s));
  REQUIRE(waiting);
  for (int i = 0; i < 4; ++i) guard_test::attempt_fails(quota, asking);
  CHECK(waiting->still_admitted(asking.now));
  guard_test::attempt_fails(quota, asking);
  CHECK(!waiting->still_admitted(asking.now));
}

TEST_CASE(
    "retry quota settings that cannot work are invalid by name, and gRPC's ratio may exceed its bucket [C3]",
    "[retry_quota]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  const auto refused = [](const char* words) { return MessageMatches(ContainsSubstring(words)); };
  CHECK_THROWS_MATCHES((GrpcRetryThrottling{.max_tokens = 0}), std::invalid_argument,
                       refused("max_tokens = 0"));
  CHECK_THROWS_MATCHES((GrpcRetryThrottling{.token_ratio = -0.1}), std::invalid_argument,
                       refused("token_ratio = -0.1"));
  CHECK_THROWS_MATCHES((GrpcRetryThrottling{.token_ratio = std::numeric_limits<double>::quiet_NaN()}),
                       std::invalid_argument, refused("token_ratio = nan"));
  CHECK_THROWS_MATCHES((RetryQuota{GrpcRetryThrottling{.token_ratio = 1e-9}}), std::invalid_argument,
                       refused("token_ratio"));
  CHECK_THROWS_MATCHES((AwsRetryQuota{.retry_cost = -5}), std::invalid_argument, refused("retry_cost = -5"));
  CHECK_THROWS_MATCHES((AwsRetryQuota{.retry_cost = 0}), std::invalid_argument, refused("retry_cost = 0"));
  CHECK_THROWS_MATCHES((AwsRetryQuota{.throttled_cost = 0}), std::invalid_argument,
                       refused("throttled_cost = 0"));

  Asking asking;
  RetryQuota quota{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 1e300}};
  for (int i = 0; i < 9; ++i) guard_test::attempt_fails(quota, asking);
  CHECK(guard_test::attempt_succeeds(quota, asking));
  CHECK(quota.tokens() == 10.0);
}

// ---- AWS --------------------------------------------------------------------------------------------------------------

TEST_CASE(
    "AWS's quota of 2026 gives exactly 35 retries in a total outage from full, 100 if all are throttled [H4]",
    "[retry_quota]") {
  const auto throttled =
      RetryOn<Throttling>{} || encore::RetryIfResult{[](int status) { return status == 429; }};
  RetryQuota outage{AwsRetryQuota{}, throttled};
  CHECK(retries_in_an_outage(outage, 2, 1000, down) == 35);
  CHECK(outage.tokens() == 10.0);
  RetryQuota thrown{AwsRetryQuota{}, throttled};
  CHECK(retries_in_an_outage(thrown, 2, 1000, throttles) == 100);
  RetryQuota returned{AwsRetryQuota{}, throttled};
  CHECK(retries_in_an_outage(returned, 2, 1000, [] { return 429; }) == 100);
  RetryQuota other_values{AwsRetryQuota{}, throttled};
  CHECK(retries_in_an_outage(other_values, 2, 1000, [] { return 503; }) == 35);

  RetryQuota untold{AwsRetryQuota{}};  // nobody said what a throttling is
  CHECK(retries_in_an_outage(untold, 2, 1000, throttles) == 35);
  RetryQuota of_exceptions{AwsRetryQuota{}, RetryOn<Throttling>{}};
  CHECK(retries_in_an_outage(of_exceptions, 2, 1000, [] { return 429; }) == 35);
  RetryQuota that_throws{AwsRetryQuota{}, encore::RetryIf{[](const Throttling&) -> bool { throw 42; }}};
  CHECK(retries_in_an_outage(that_throws, 2, 1000, throttles) == 35);
}

TEST_CASE("AWS's quota until 2026 gives exactly 100 retries in a total outage, 50 if all time out [H4]",
          "[retry_quota]") {
  struct Slow : Transient {
    using Transient::Transient;
  };
  constexpr AwsRetryQuota until_2026{.retry_cost = 5, .throttled_cost = 10};  // a timeout's retry took 10
  RetryQuota failing{until_2026, RetryOn<Slow>{}};
  CHECK(retries_in_an_outage(failing, 2, 1000, down) == 100);
  CHECK(failing.tokens() == 0.0);
  RetryQuota timing_out{until_2026, RetryOn<Slow>{}};
  CHECK(retries_in_an_outage(timing_out, 2, 1000, []() -> int { throw Slow{"slow"}; }) == 50);
  CHECK(timing_out.tokens() == 0.0);
}

// One call of at most `attempts` attempts: what is left in the quota after it. The cases of Smithy's "standard mode" tests.
struct Quota {
  Setting setting{};
  RetryQuota<> quota;
  explicit Quota(int capacity, int retry_cost = 5)
      : quota{AwsRetryQuota{.capacity = capacity, .retry_cost = retry_cost}} {}
  template <class... Steps>
  double after_call(int attempts, Steps... steps) {
    Scripted<int> service{std::move(steps)...};
    try {
      static_cast<void>(setting.policy(quota, attempts - 1).run(service));
    } catch (const std::runtime_error&) {}
    CHECK(service.finished());
    return quota.tokens();
  }
};

TEST_CASE("a retry quota counts as the AWS SDKs' standard mode does, in its published cases [H4]",
          "[retry_quota]") {
  const auto error = [] { return throws<Transient>("500"); };
  CHECK(Quota{500}.after_call(3, error(), error(), returns(1)) == 495);  // the last retry's 5 come back
  CHECK(Quota{500}.after_call(3, error(), error(), error()) == 490);
  CHECK(Quota{5}.after_call(3, error(), error()) == 0);  // one retry, then there is nothing left for another
  CHECK(Quota{0}.after_call(3, error()) == 0);
  CHECK(Quota{10}.after_call(5, error(), error(), error()) == 0);
  CHECK(Quota{500}.after_call(5, times(5, error())) == 480);
  CHECK(Quota{500}.after_call(3, returns(1)) == 500);

  Quota recovers{15};
  CHECK(recovers.after_call(5, error(), error(), returns(1)) == 10);
  CHECK(recovers.after_call(5, error(), returns(1)) == 10);
  CHECK(recovers.after_call(5, returns(1)) == 11);  // a success at once gives 1

  // The same with the price of 2026.
  CHECK(Quota{500, 14}.after_call(3, error(), error(), returns(1)) == 486);
  CHECK(Quota{500, 14}.after_call(3, error(), error(), error()) == 472);
  CHECK(Quota{14, 14}.after_call(3, error(), error()) == 0);
  CHECK(Quota{13, 14}.after_call(3, error()) == 13);
}

TEST_CASE("each retry costs the price of the failure before it [H4]", "[retry_quota]") {
  Setting setting;
  RetryQuota quota{AwsRetryQuota{.capacity = 30}, RetryOn<Throttling>{}};
  Scripted<int> mixed{throws<Transient>("500"), throws<Throttling>("429"), throws<Transient>("500")};
  CHECK_THROWS_AS(setting.policy(quota, 9).run(mixed), Transient);  // 14, 5, and 14 more are not there
  CHECK(quota.tokens() == 30 - 14 - 5);
  Scripted<int> throttled{throws<Throttling>("429"), returns(1)};
  CHECK(setting.policy(quota, 9).run(throttled) == 1);
  CHECK(quota.tokens() == 11);
}

TEST_CASE("a retry that ends in a permanent failure returns its tokens (fault 37: aws-sdk-go-v2 #3186) [H1]",
          "[retry_quota]") {
  Quota quota{500, 14};
  for (int i = 0; i < 200; ++i)
    CHECK(quota.after_call(3, throws<Transient>("500"), throws<Permanent>("404")) == 500);
}

// ---- permits ----------------------------------------------------------------------------------------------------------

TEST_CASE("a retry that does not begin returns its tokens, and no more [H1]", "[retry_quota]") {
  const Asking asking;
  RetryQuota quota{AwsRetryQuota{}, RetryOn<Throttling>{}};
  const Throttling error{"429"};
  {
    auto one = quota.admit(asking.retry());
    auto other = quota.admit(asking.retry(), encore::Thrown{&error});
    REQUIRE((one && other));
    CHECK(quota.tokens() == 500 - 14 - 5);
    const auto moved = std::move(*one);
    one.reset();  // what was moved from gives nothing back
    CHECK(quota.tokens() == 500 - 14 - 5);
  }
  CHECK(quota.tokens() == 500);
}

TEST_CASE("a retry that has begun stays counted, even if its result is never reported [H4]",
          "[retry_quota]") {
  const Asking asking;
  RetryQuota quota{AwsRetryQuota{}};
  auto permit = quota.admit(asking.retry());
  REQUIRE(permit);
  permit->began(asking.now);
  permit.reset();
  CHECK(quota.tokens() == 500 - 14);
}

TEST_CASE("a quota's permit that has its result ignores a second one [H1]", "[retry_quota]") {
  const Asking asking;
  RetryQuota quota{AwsRetryQuota{}};
  CHECK(retry_fails(quota, asking));
  auto permit = quota.admit(asking.retry());
  permit->began(asking.now);
  permit->succeeded(asking.now);
  permit->succeeded(asking.now);
  permit->failed(asking.now, false);
  CHECK(!permit->still_admitted(asking.now));
  permit.reset();
  CHECK(quota.tokens() == 486);
}

TEST_CASE("a spent retry quota stops retries but never a first attempt, and reads no clock [H4, P5]",
          "[retry_quota]") {
  const Asking asking;
  RetryQuota quota{AwsRetryQuota{.capacity = 0}};
  CHECK(!quota.admit(asking.retry()));
  CHECK(guard_test::attempt_succeeds(quota, asking));
  CHECK(asking.clock.readings() == 0);
}

#ifdef ENCORE_TESTS_READ_ONLY
TEST_CASE("while a retry quota is full a success writes nothing to shared memory [P10]", "[retry_quota]") {
  const Asking asking;
  guard_test::ReadOnly<RetryQuota<>> like_grpc{GrpcRetryThrottling{.max_tokens = 3}};
  like_grpc.forbid_writing();
  CHECK(guard_test::attempt_succeeds(like_grpc.get(), asking));
  guard_test::ReadOnly<RetryQuota<>> like_aws{AwsRetryQuota{.capacity = 3}};
  like_aws.forbid_writing();
  CHECK(guard_test::attempt_succeeds(like_aws.get(), asking));
}
#endif

TEST_CASE("threads neither lose nor create a token (fault 37) [H1, H8]", "[retry_quota][threads]") {
  const Asking asking;
  RetryQuota quota{AwsRetryQuota{.capacity = 1'000'000}};
  std::atomic<int> spent{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 5'000; ++i) {
          auto permit = quota.admit(asking.retry());
          if (!permit || i % 4 == 0) continue;  // given back
          permit->began(asking.now);
          if (i % 4 == 1) permit->succeeded(asking.now);
          if (i % 4 == 2) permit->failed(asking.now, true), ++spent;
          if (i % 4 == 3) permit->failed(asking.now, false);
        }
      });
  }
  CHECK(quota.tokens() == 1'000'000 - 14 * spent.load());
  CHECK(spent > 0);
}

}  // namespace

#include "asking.hpp"
#include "read_only.hpp"
#include <encore/duration.hpp>
#include <encore/event.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/limits.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/random.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_reason.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::AwsRetryQuota, encore::GrpcRetryThrottling, encore::RetryBudget, encore::StopReason,
    encore::Tokens;
using guard_test::Asking;

namespace {

static_assert(encore::Guard<RetryBudget>);
static_assert(!std::is_copy_constructible_v<RetryBudget::Permit>, "a permit is given back once");
static_assert(std::is_nothrow_move_constructible_v<RetryBudget::Permit>);

struct Transient : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Permanent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void first_attempt_begins(RetryBudget& budget, const Asking& asking) {
  auto permit = budget.admit(asking.first());
  REQUIRE(permit);
  permit->began(asking.now);
  permit->failed(asking.now, true);
}
// A retry that is made and fails; false if it was refused.
bool retry_fails(RetryBudget& budget, const Asking& asking) {
  auto permit = budget.admit(asking.retry());
  if (!permit) return false;
  permit->began(asking.now);
  permit->failed(asking.now, true);
  return true;
}
int retries_until_refused(RetryBudget& budget, const Asking& asking) {
  int retries = 0;
  while (retries < 100'000 && retry_fails(budget, asking)) ++retries;
  return retries;
}

// ---- the share (H4) ---------------------------------------------------------------------------------------------------

TEST_CASE("each first attempt deposits the share and each retry takes one (fault 36: tower #857) [H4]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.6, .floor = 0}};
  for (int i = 0; i < 10; ++i) first_attempt_begins(budget, asking);
  CHECK(budget.tokens() == 6.0);
  CHECK(retries_until_refused(budget, asking) == 6);
  CHECK(budget.tokens() == 0.0);
}

TEST_CASE("a share is not a percentage (fault 37: linkerd #2236) [H4]", "[retry_budget]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  CHECK_THROWS_MATCHES((RetryBudget{{.share = 20}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("share = 20")));
  CHECK_THROWS_MATCHES((RetryBudget{{.share = -0.1}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("share")));
  CHECK_THROWS_MATCHES((RetryBudget{{.floor = -1}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("floor")));

  Asking asking;
  RetryBudget half_a_percent{{.share = 0.005, .floor = 0}};
  for (int i = 0; i < 1000; ++i) first_attempt_begins(half_a_percent, asking);
  CHECK(retries_until_refused(half_a_percent, asking) == 5);
}

TEST_CASE("a spent budget stops retries but never a first attempt [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.0, .floor = 0}};
  for (int i = 0; i < 100; ++i) {
    CHECK(!budget.admit(asking.retry()));
    CHECK(budget.admit(asking.first()));
  }
}

TEST_CASE("a first attempt that is not made deposits nothing [H1, H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0}};
  budget.admit(asking.first());  // another guard refused
  CHECK(budget.tokens() == 0.0);
  auto permit = budget.admit(asking.first());
  permit->began(asking.now);
  permit->began(asking.now);
  CHECK(budget.tokens() == 1.0);
}

TEST_CASE("good times save up no more than is allowed [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0, .most_saved = 7}};
  for (int i = 0; i < 1000; ++i) first_attempt_begins(budget, asking);
  CHECK(retries_until_refused(budget, asking) == 7);
}

TEST_CASE("the floor is there whatever the traffic, and grows back with time [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.1, .floor = 4, .floor_period = 8s}};
  CHECK(retries_until_refused(budget, asking) == 4);
  asking.clock.advance(2s);
  CHECK(retries_until_refused(budget, asking) == 1);
  for (int i = 0; i < 10; ++i) first_attempt_begins(budget, asking);
  CHECK(retries_until_refused(budget, asking) == 1);  // what the deposits pay for comes on top
  asking.clock.advance(1h);
  CHECK(retries_until_refused(budget, asking) == 4);
}

TEST_CASE("without settings: a tenth of the calls, and two retries each ten seconds beyond that",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget;
  CHECK(retries_until_refused(budget, asking) == 2);
  asking.clock.advance(10s);
  CHECK(retries_until_refused(budget, asking) == 2);
  for (int i = 0; i < 100; ++i) first_attempt_begins(budget, asking);
  CHECK(retries_until_refused(budget, asking) == 10);
  for (int i = 0; i < 10'000; ++i) first_attempt_begins(budget, asking);
  CHECK(retries_until_refused(budget, asking) == 100);
}

TEST_CASE("the clock is read only for a retry that the deposits do not pay for [P5]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 1}};
  first_attempt_begins(budget, asking);
  CHECK(retry_fails(budget, asking));
  CHECK(asking.clock.readings() == 0);
  CHECK(retry_fails(budget, asking));
  CHECK(asking.clock.readings() == 1);
  RetryBudget without_floor{{.floor = 0}};
  CHECK(!retry_fails(without_floor, asking));
  CHECK(asking.clock.readings() == 1);
}

// ---- permits ----------------------------------------------------------------------------------------------------------

TEST_CASE("a retry that does not begin gives back what it took, and no more [H1]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 1, .floor_period = 1h}};
  for (int i = 0; i < 2; ++i) first_attempt_begins(budget, asking);
  {
    auto paid = budget.admit(asking.retry());
    auto also_paid = budget.admit(asking.retry());
    auto from_the_floor = budget.admit(asking.retry());
    REQUIRE((paid && also_paid && from_the_floor));
    CHECK(!budget.admit(asking.retry()));
    const auto moved = std::move(*paid);
    paid.reset();  // what was moved from gives nothing back
    CHECK(!budget.admit(asking.retry()));
  }
  CHECK(budget.tokens() == 2.0);
  CHECK(retries_until_refused(budget, asking) == 3);
}

TEST_CASE("a retry that has begun is load, however it ends [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0}};
  for (int i = 0; i < 4; ++i) first_attempt_begins(budget, asking);
  for (int i = 0; i < 4; ++i) {
    auto permit = budget.admit(asking.retry());
    REQUIRE(permit);
    permit->began(asking.now);
    if (i == 0) permit->succeeded(asking.now);
    if (i == 1) permit->failed(asking.now, true);
    if (i == 2) permit->failed(asking.now, false);
    permit.reset();  // the last one without any result
    CHECK(budget.tokens() == 3.0 - i);
  }
}

TEST_CASE("a permit that was told a result takes no second one [H1]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{AwsRetryQuota{}};
  CHECK(retry_fails(budget, asking));
  auto permit = budget.admit(asking.retry());
  permit->succeeded(asking.now);
  permit->succeeded(asking.now);
  permit->failed(asking.now, false);
  CHECK(!permit->still_admitted(asking.now));
  permit.reset();
  CHECK(budget.tokens() == 495.0);
}

#ifdef ENCORE_TESTS_READ_ONLY
TEST_CASE("while the bucket is full a success writes nothing to shared memory [P10]", "[retry_budget]") {
  const Asking asking;
  const auto succeeds = [&](auto& budget) {
    while (budget.get().tokens() < 3.0) first_attempt_begins(budget.get(), asking);
    budget.forbid_writing();
    for (int i = 0; i < 3; ++i) CHECK(guard_test::attempt_succeeds(budget.get(), asking));
  };
  guard_test::ReadOnly<RetryBudget> plain{encore::RetryBudgetOptions{.share = 0.1, .most_saved = 3}};
  succeeds(plain);
  guard_test::ReadOnly<RetryBudget> like_grpc{GrpcRetryThrottling{.max_tokens = 3}};
  succeeds(like_grpc);
  guard_test::ReadOnly<RetryBudget> like_aws{AwsRetryQuota{.capacity = 3}};
  succeeds(like_aws);
}
#endif

// ---- in a policy ------------------------------------------------------------------------------------------------------

struct Setting {
  FakeClock clock{};
  auto policy(RetryBudget& budget, int retries) {
    return encore::RetryPolicy{clock,
                               budget,
                               encore::RetryOn<Transient>{},
                               encore::MaxRetries{retries},
                               encore::NoJitter{},
                               encore::ConstantBackoff{.delay = 1s}};
  }
};

// Calls that all fail, and all that they attempt.
int attempts_in_an_outage(Setting& setting, RetryBudget& budget, int retries, int calls) {
  int attempts = 0;
  const auto policy = setting.policy(budget, retries);
  for (int i = 0; i < calls; ++i) {
    CHECK_THROWS_AS(policy.run([&]() -> int {
      ++attempts;
      throw Transient{"down"};
    }),
                    Transient);
  }
  return attempts;
}

TEST_CASE("in a total outage load grows by the share and no more [H4]", "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 0.1, .floor = 0}};
  CHECK(attempts_in_an_outage(setting, budget, 2, 3000) == 3300);  // 1.10 times; three times without a budget
  RetryBudget none{{.share = 0.0, .floor = 0}};
  CHECK(attempts_in_an_outage(setting, none, 2, 100) == 100);
  RetryBudget a_third{{.share = 1.0 / 3.0, .floor = 0}};
  CHECK(attempts_in_an_outage(setting, a_third, 9, 999) ==
        999 + 332);  // 0.333333 is cut off, never rounded up
}

TEST_CASE("the budget is asked before the sleep, and the last error is kept (fault 36: failsafe-go) [H2]",
          "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 0.0, .floor = 1}};
  Scripted<int> tool{throws<Transient>("first"), throws<Transient>("second"), returns(1)};
  const auto outcome = setting.policy(budget, 9).with(encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.reason() == StopReason::retry_budget_spent);
  CHECK(outcome.attempts() == 2);
  CHECK(setting.clock.sleeps() == Durations{1s});
  REQUIRE(outcome.failure().error != nullptr);
  CHECK_THROWS_WITH(std::rethrow_exception(outcome.failure().error), "second");
}

TEST_CASE("a retry whose wait ends by a stop is returned unspent [H2, K1]", "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 1.0, .floor = 0}};
  std::stop_source source;
  const auto token = source.get_token();
  setting.clock.after(500ms, [&] { source.request_stop(); });
  CHECK_THROWS_AS(setting.policy(budget, 9).run({.stop = token}, []() -> int { throw Transient{"down"}; }),
                  Transient);
  CHECK(setting.clock.sleeps() == Durations{500ms});
  CHECK(budget.tokens() == 1.0);
}

TEST_CASE("one budget is shared by several policies [H8]", "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 0.5, .floor = 0}};
  const auto one = setting.policy(budget, 9);
  const auto other = setting.policy(budget, 9);
  for (int i = 0; i < 4; ++i) CHECK(one.run([] { return 1; }) == 1);
  Scripted<int> down{always(throws<Transient>("down"))};
  CHECK_THROWS_AS(other.run(down), Transient);
  CHECK(down.calls() == 3);  // five first attempts, two retries
}

// ---- gRPC -------------------------------------------------------------------------------------------------------------

TEST_CASE("as gRPC throttles: 10 tokens and ratio 0.1 give exactly 4 retries in a total outage [H4]",
          "[retry_budget]") {
  Setting setting;
  RetryBudget budget{GrpcRetryThrottling{.max_tokens = 10, .token_ratio = 0.1}};
  // 9 retry, 8 retry, 7 retry, 6 retry, 5 is not more than half
  CHECK(attempts_in_an_outage(setting, budget, 1000, 1) == 1 + 4);
  CHECK(budget.tokens() == 5.0);
  CHECK(attempts_in_an_outage(setting, budget, 1000, 10) == 10);
  CHECK(budget.tokens() == 0.0);  // first attempts still count, down to the bottom
}

TEST_CASE("as gRPC's own test has it: 4 tokens, ratio 1.6 [H4]", "[retry_budget]") {
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
  RetryBudget budget{GrpcRetryThrottling{.max_tokens = 4, .token_ratio = 1.6}};
  for (const auto& step : steps) {
    CAPTURE(step.what, step.tokens);
    if (step.what == 's') {
      CHECK(guard_test::attempt_succeeds(budget, asking));
    } else {
      first_attempt_begins(budget, asking);
      CHECK(budget.admit(asking.retry()).has_value() == (step.what == 'f'));
    }
    CHECK(budget.tokens() == step.tokens);
  }
}

TEST_CASE("as gRPC counts: failures that are not worth a retry do not, retries count as any attempt [H4]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{GrpcRetryThrottling{}};
  for (int i = 0; i < 20; ++i) guard_test::attempt_fails(budget, asking, false);
  CHECK(budget.tokens() == 10.0);
  for (int i = 0; i < 3; ++i) first_attempt_begins(budget, asking);
  CHECK(retry_fails(budget, asking));
  CHECK(budget.tokens() == 6.0);
  auto retry = budget.admit(asking.retry());
  CHECK(budget.tokens() == 6.0);  // an admission takes nothing
  retry->began(asking.now);
  retry->succeeded(asking.now);
  CHECK(budget.tokens() == 6.1);
}

TEST_CASE("as gRPC throttles, a retry that waits is refused on waking when the tokens ran low meanwhile [H2]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{GrpcRetryThrottling{}};
  auto waiting = budget.admit(asking.retry(1s));
  REQUIRE(waiting);
  for (int i = 0; i < 4; ++i) first_attempt_begins(budget, asking);
  CHECK(waiting->still_admitted(asking.now));
  first_attempt_begins(budget, asking);
  CHECK(!waiting->still_admitted(asking.now));

  RetryBudget share{{.share = 1.0, .floor = 1}};
  first_attempt_begins(share, asking);
  auto paid = share.admit(asking.retry(1s));
  auto from_the_floor = share.admit(asking.retry(1s));
  CHECK(paid->still_admitted(asking.now));  // what was paid for stays paid for
  CHECK(from_the_floor->still_admitted(asking.now));

  RetryBudget own_kind{
      encore::RetryPrices{.capacity = 10, .at_first = 10, .least = 6, .retry = 5, .failure = 1}};
  auto held = own_kind.admit(asking.retry(1s));
  CHECK(held->still_admitted(asking.now));  // 5 are there and 5 are paid
  for (int i = 0; i < 4; ++i) first_attempt_begins(own_kind, asking);
  CHECK(held->still_admitted(asking.now));
  first_attempt_begins(own_kind, asking);
  CHECK(!held->still_admitted(asking.now));
}

// ---- AWS --------------------------------------------------------------------------------------------------------------

// One call of at most `attempts` attempts: what is left in the quota after it. The cases of Smithy's "standard mode" tests.
struct Quota {
  Setting setting{};
  RetryBudget budget;
  explicit Quota(int capacity) : budget{AwsRetryQuota{.capacity = capacity}} {}
  template <class... Steps>
  double after_call(int attempts, Steps... steps) {
    Scripted<int> service{std::move(steps)...};
    try {
      static_cast<void>(setting.policy(budget, attempts - 1).run(service));
    } catch (const Transient&) {}
    CHECK(service.finished());
    return budget.tokens();
  }
};

TEST_CASE("as the AWS SDKs' standard mode counts, by its published cases [H4]", "[retry_budget]") {
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
}

TEST_CASE("as AWS's quota: exactly 100 retries in a total outage from full [H4]", "[retry_budget]") {
  Setting setting;
  RetryBudget budget{AwsRetryQuota{}};
  CHECK(attempts_in_an_outage(setting, budget, 2, 1000) == 1000 + 100);
  CHECK(budget.tokens() == 0.0);
}

TEST_CASE(
    "a retry that ends in a permanent failure gives back what it took (fault 37: aws-sdk-go-v2 #3186) [H1]",
    "[retry_budget]") {
  Setting setting;
  RetryBudget budget{AwsRetryQuota{}};
  for (int i = 0; i < 200; ++i) {
    Scripted<int> service{throws<Transient>("500"), throws<Permanent>("404")};
    CHECK_THROWS_AS(setting.policy(budget, 2).run(service), Permanent);
  }
  CHECK(budget.tokens() == 500.0);
}

// ---- properties -------------------------------------------------------------------------------------------------------

struct Counts {
  std::atomic<std::int64_t> first_attempts{0};
  std::atomic<std::int64_t> first_successes{0};
  std::atomic<std::int64_t> retries{0};
  std::atomic<std::int64_t> failed_retries{0};  // transiently: those that are not paid back
};

class FaultyClock {
 public:
  using role = encore::role::Clock;
  explicit FaultyClock(FakeClock& fake) : fake_{fake} {}
  FaultyClock(const FaultyClock&) = delete;
  encore::TimePoint now() const { return may_throw(), fake_.now(); }
  encore::WallTime wall() const { return fake_.wall(); }
  void sleep_for(encore::Duration duration, const encore::StopView& stop) {
    may_throw(), fake_.sleep_for(duration, stop);
  }

 private:
  void may_throw() const {
    if (encore::Random{encore::mix(draws_.fetch_add(1))}.draw() < 0.05)
      throw std::runtime_error{"the clock broke"};
  }
  FakeClock& fake_;
  mutable std::atomic<std::uint64_t> draws_{0};
};

// Calls that are stopped, refused and broken at every point, by several policies that share the budget.
void use_at_random(FaultyClock& clock, RetryBudget& budget, Counts& counts, std::uint64_t seed, int calls) {
  encore::Random random{seed};
  const auto happens = [&](double share) { return random.draw() < share; };
  bool transient = false;
  int ordinal = 0;
  const encore::RetryPolicy policy{
      clock,
      budget,
      encore::RetryIf{[&](const std::exception& error) {
        if (happens(0.05)) throw std::logic_error{"the predicate broke"};
        transient = dynamic_cast<const Transient*>(&error) != nullptr;
        if (transient && ordinal > 1) ++counts.failed_retries;
        return transient;
      }},
      [&](const encore::Event& event) {
        if (event.kind == encore::EventKind::attempt_started) {
          ordinal = event.ordinal;
          ++(ordinal == 1 ? counts.first_attempts : counts.retries);
        }
        if (event.kind == encore::EventKind::attempt_succeeded && event.ordinal == 1)
          ++counts.first_successes;
        if (happens(0.1)) throw std::logic_error{"the observer broke"};
      },
      encore::MaxRetries{4},
      encore::NoJitter{},
      encore::TimeBudget{10s},
      encore::ConstantBackoff{.delay = 1s}};
  for (int i = 0; i < calls; ++i) {
    std::stop_source source;
    const auto token = source.get_token();
    if (happens(0.05)) source.request_stop();
    try {
      static_cast<void>(policy.run({.stop = token}, [&]() -> int {
        if (happens(0.1)) source.request_stop();
        if (happens(0.6)) throw Transient{"down"};
        if (happens(0.1)) throw Permanent{"gone"};
        if (happens(0.1)) throw 42;
        return 1;
      }));
    } catch (...) {}  // what leaves is not what this is about
  }
}

TEST_CASE("acquired is spent or returned, whatever throws and wherever (fault 37) [H1, H4]",
          "[retry_budget]") {
  FakeClock fake{{.most_attempts_without_progress = 1'000'000}};
  FaultyClock clock{fake};
  Counts counts;
  RetryBudget budget{{.share = 0.3, .floor = 0, .most_saved = 1'000'000}};
  use_at_random(clock, budget, counts, 1, 5000);
  CHECK(budget.tokens() == (Tokens{static_cast<int>(counts.first_attempts) * 3 / 10} +
                            Tokens{(static_cast<int>(counts.first_attempts) * 3 % 10) / 10.0} -
                            Tokens{static_cast<int>(counts.retries)})
                               .number());
  CHECK(counts.retries > 500);
}

TEST_CASE("the same where success pays back (fault 37) [H1, H4]", "[retry_budget]") {
  FakeClock fake{{.most_attempts_without_progress = 1'000'000}};
  FaultyClock clock{fake};
  Counts counts;
  RetryBudget budget{encore::RetryPrices{
      .capacity = 2'000'000, .at_first = 1'000'000, .retry = 5, .first_success = 1, .refunds = true}};
  use_at_random(clock, budget, counts, 2, 5000);
  CHECK(budget.tokens() == 1e6 + static_cast<double>(counts.first_successes - 5 * counts.failed_retries));
  CHECK(counts.failed_retries > 500);
}

TEST_CASE("conservation holds under contention (fault 37) [H1, H4, H8]", "[retry_budget][threads]") {
  FakeClock fake{{.most_attempts_without_progress = 1'000'000}};
  FaultyClock clock{fake};
  Counts counts;
  RetryBudget budget{{.share = 0.5, .floor = 0, .most_saved = 1'000'000}};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] { use_at_random(clock, budget, counts, 100 + thread, 400); });
  }
  CHECK(budget.tokens() ==
        0.5 * static_cast<double>(counts.first_attempts) - static_cast<double>(counts.retries));
  CHECK(counts.retries > 100);
}

}  // namespace

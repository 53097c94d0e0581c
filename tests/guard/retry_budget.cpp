#include "asking.hpp"
#include "read_only.hpp"
#include <encore/detail/random.hpp>
#include <encore/duration.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_reason.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Duration, encore::RetryBudget, encore::RetryBudgetOptions, encore::StopReason,
    encore::TimePoint;
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

void first_attempt_fails(RetryBudget& budget, const Asking& asking) {
  REQUIRE(guard_test::attempt_fails(budget, asking));
}
// A retry that is made at once and fails; false if it was refused.
bool retry_fails(RetryBudget& budget, const Asking& asking) {
  auto permit = budget.admit(asking.retry());
  if (!permit || !permit->still_admitted(asking.now)) return false;
  permit->began(asking.now);
  permit->failed(asking.now, true);
  return true;
}
int retries_until_refused(RetryBudget& budget, const Asking& asking) {
  int retries = 0;
  while (retries < 100'000 && retry_fails(budget, asking)) ++retries;
  return retries;
}

// ---- the bound (H4) ---------------------------------------------------------------------------------------------------

/// All that a client did, and the bound by its definition: of every interval that a retry begins and a retry ends.
struct History {
  std::vector<TimePoint> first_attempts{};
  std::vector<TimePoint> retries{};

  bool is_within(const RetryBudgetOptions& options) const {
    const auto share = std::llround(double{options.share} * 1e6);
    for (std::size_t first = 0; first < retries.size(); ++first) {
      const auto from = std::lower_bound(first_attempts.begin(), first_attempts.end(),
                                         retries[first] - Duration{options.memory});
      auto to = from;
      for (auto last = first; last < retries.size(); ++last) {
        to = std::upper_bound(to, first_attempts.end(), retries[last]);
        const auto made = 1'000'000 * static_cast<std::int64_t>(last - first + 1);
        if (made > share * (to - from) + 1'000'000 * std::int64_t{options.floor}) return false;
      }
    }
    return true;
  }
};

/// A client in a total outage, moved step by step, whose retries wait for as long as it pleases.
struct Client {
  explicit Client(const RetryBudgetOptions& options) : settings{options}, budget{options} {}

  void first_attempt() {
    guard_test::attempt_fails(budget, asking);
    history.first_attempts.push_back(asking.clock.now());
  }
  void retry() {
    if (retry_fails(budget, asking)) history.retries.push_back(asking.clock.now());
  }
  void wait_for_a_retry() {
    if (auto permit = budget.admit(asking.retry(1s))) waiting.push_back(*std::move(permit));
  }
  void wake() {
    if (waiting.empty()) return;
    auto permit = std::move(waiting.front());
    waiting.pop_front();
    if (!permit.still_admitted(asking.now)) return;
    permit.began(asking.now);
    permit.failed(asking.now, true);
    history.retries.push_back(asking.clock.now());
  }
  void stop_waiting() {
    if (!waiting.empty()) waiting.pop_back();
  }
  bool within_bound() const { return history.is_within(settings); }

  RetryBudgetOptions settings;
  Asking asking{};
  RetryBudget budget;
  std::deque<RetryBudget::Permit> waiting{};
  History history{};
};

TEST_CASE("in every order of six steps no interval has more retries than the retry budget allows [H4]",
          "[retry_budget]") {
  using Step = void (*)(Client&);
  constexpr Step steps[]{[](Client& client) { client.first_attempt(); },
                         [](Client& client) { client.retry(); },
                         [](Client& client) { client.wait_for_a_retry(); },
                         [](Client& client) { client.wake(); },
                         [](Client& client) { client.stop_waiting(); },
                         [](Client& client) { client.asking.clock.advance(1s); },
                         [](Client& client) { client.asking.clock.advance(9s); }};
  constexpr std::size_t kinds = std::size(steps);
  std::size_t orders = 1;
  for (int i = 0; i < 6; ++i) orders *= kinds;
  std::size_t wrong = 0, made = 0;
  for (std::size_t order = 0; order < orders; ++order) {
    Client client{{.share = 1.0, .floor = 1, .memory = 10s}};
    for (auto rest = order, i = std::size_t{0}; i < 6; ++i, rest /= kinds) steps[rest % kinds](client);
    wrong += !client.within_bound();
    made += client.history.retries.size();
  }
  CHECK(wrong == 0);
  CHECK(made > orders / 2);
}

TEST_CASE("in long random histories no interval has more retries than the retry budget allows [H4]",
          "[retry_budget]") {
  const auto settings =
      GENERATE(RetryBudgetOptions{}, RetryBudgetOptions{.share = 0.5, .floor = 0, .memory = 3s},
               RetryBudgetOptions{.share = 1.0, .floor = 5, .memory = 1min, .max_saved = 4},
               RetryBudgetOptions{.share = 1.0 / 3.0, .floor = 1, .memory = 7s},
               RetryBudgetOptions{.share = 0.2, .floor = 2, .success_refunds = true});
  std::size_t retries = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    CAPTURE(double{settings.share}, int{settings.floor}, seed);
    encore::shared::Random random{seed};
    Client client{settings};
    const auto happens = [&](double share) { return random.draw() < share; };
    const auto part_of_the_memory = [&](double most) {
      return encore::nearest_duration(random.draw() * most *
                                      static_cast<double>(Duration{settings.memory}.count()));
    };
    double load = 0.5;
    for (int step = 0; step < 1'000; ++step) {
      if (happens(0.02)) load = random.draw();  // calmer and busier times
      if (happens(load)) client.first_attempt();
      if (happens(0.4)) client.retry();
      if (happens(0.2)) client.wait_for_a_retry();
      if (happens(0.2)) client.wake();
      if (happens(0.02)) client.stop_waiting();
      client.asking.clock.advance(part_of_the_memory(happens(0.01) ? 2.0 : 0.02));
    }
    REQUIRE(client.within_bound());
    retries += client.history.retries.size();
  }
  CHECK(retries > 500);
}

// ---- the figures ------------------------------------------------------------------------------------------------------

/// A total outage that follows ten good minutes: how many retries are made of how many calls, and is each interval within bound?
struct Outage {
  int calls = 0;
  int retries = 0;
  bool within_bound = false;
};
Outage outage_after_good_times(Duration every, Duration lasts) {
  FakeClock clock;
  RetryBudget budget;
  const encore::RetryPolicy policy{clock, budget, encore::RetryOn<Transient>{}, encore::MaxRetries{2},
                                   encore::ConstantBackoff{0s}};
  History history;
  Outage outage;
  for (Duration time{}; time < 10min + lasts; time += every) {
    const auto down = time >= 10min;
    try {
      policy.run([&](const encore::Attempt& attempt) {
        (attempt.ordinal == 1 ? history.first_attempts : history.retries).push_back(clock.now());
        if (down) throw Transient{"down"};
      });
    } catch (const Transient&) {}
    outage.calls += down;
    clock.advance(every);
  }
  outage.retries = static_cast<int>(history.retries.size());
  outage.within_bound = history.is_within({});
  return outage;
}

TEST_CASE(
    "the bound holds for a retry budget in the first minute of a total outage after ten good minutes [H4]",
    "[retry_budget]") {
  // Worked out by hand: the floor of 2, a tenth of the calls in the nine whole seconds before, and a tenth of those in the outage.
  struct Row {
    Duration every;
    Outage first_10_seconds, first_minute;
    double most_in_10_seconds, most_in_a_minute;  // requests per call by H4
  };
  const auto row =
      GENERATE(Row{10s, {1, 2 + 0}, {6, 2 + 0}, 3.0, 1.45}, Row{1s, {10, 2 + 1}, {60, 2 + 6}, 1.4, 1.15},
               Row{100ms, {100, 2 + 9 + 10}, {600, 2 + 9 + 60}, 1.22, 1.12},
               Row{10ms, {1'000, 2 + 90 + 100}, {6'000, 2 + 90 + 600}, 1.20, 1.12});
  const auto holds = [&](Duration lasts, const Outage& expected, double most) {
    CAPTURE(row.every.count(), lasts.count());
    const auto outage = outage_after_good_times(row.every, lasts);
    CHECK(outage.within_bound);
    CHECK(outage.calls == expected.calls);
    CHECK(outage.retries == expected.retries);
    CHECK(outage.calls + outage.retries <= most * outage.calls);
  };
  holds(10s, row.first_10_seconds, row.most_in_10_seconds);
  holds(1min, row.first_minute, row.most_in_a_minute);
}

// Calls whose first attempts fail, one after another, and whose retries succeed: how many are answered?
int answered(RetryBudget& budget, int calls) {
  FakeClock clock;
  const encore::RetryPolicy policy{clock,
                                   budget,
                                   encore::RetryOn<Transient>{},
                                   encore::MaxRetries{2},
                                   encore::ConstantBackoff{0s},
                                   encore::ReturnOutcome{}};
  int answers = 0;
  for (int call = 0; call < calls; ++call) {
    Scripted<int> cold{throws<Transient>("cold"), always(returns(1))};
    answers += policy.run(cold).has_value();
  }
  return answers;
}

TEST_CASE("on a cold start of 80 calls that each need a retry, 10 succeed and 70 fail [H4]",
          "[retry_budget]") {
  RetryBudget budget;
  CHECK(answered(budget, 80) == 2 + 8);
  RetryBudget prepared{{.floor = 80}};
  CHECK(answered(prepared, 80) == 80);
  RetryBudget refunded{
      {.success_refunds = true}};  // one after another, each finds what the one before gave back
  CHECK(answered(refunded, 80) == 80);

  Asking asking;
  RetryBudget at_once;
  for (int call = 0; call < 80; ++call) first_attempt_fails(at_once, asking);
  CHECK(retries_until_refused(at_once, asking) == 2 + 8);
}

TEST_CASE("in a long outage every deposit is used, however quiet the client [H4]", "[retry_budget]") {
  const auto every = GENERATE(Duration{1h}, Duration{10s}, Duration{1s}, Duration{100ms});
  CAPTURE(every.count());
  Asking asking;
  RetryBudget budget;
  int retries = 0;
  for (int call = 0; call < 1'000; ++call) {
    first_attempt_fails(budget, asking);
    for (int i = 0; i < 2; ++i) retries += retry_fails(budget, asking);
    asking.clock.advance(every);
  }
  CHECK(retries == 2 + 100);
}

// ---- the share --------------------------------------------------------------------------------------------------------

TEST_CASE("each first attempt deposits the share and each retry takes one (fault 36: tower #857) [H4]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.6, .floor = 0}};
  for (int i = 0; i < 10; ++i) first_attempt_fails(budget, asking);
  CHECK(budget.tokens(asking.now) == 6.0);
  CHECK(retries_until_refused(budget, asking) == 6);
  CHECK(budget.tokens(asking.now) == 0.0);
}

TEST_CASE(
    "retry budget settings that make no sense are invalid by name, and a share is not a percentage (fault "
    "37: linkerd #2236) [C3, H4]",
    "[retry_budget]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  const auto refused = [](const char* words) { return MessageMatches(ContainsSubstring(words)); };
  CHECK_THROWS_MATCHES((RetryBudget{{.share = 20}}), std::invalid_argument, refused("share = 20"));
  CHECK_THROWS_MATCHES((RetryBudget{{.share = -0.1}}), std::invalid_argument, refused("share = -0.1"));
  CHECK_THROWS_MATCHES((RetryBudget{{.floor = -1}}), std::invalid_argument, refused("floor = -1"));
  CHECK_THROWS_MATCHES((RetryBudget{{.memory = 0s}}), std::invalid_argument, refused("memory = 0"));
  CHECK_THROWS_MATCHES((RetryBudget{{.memory = -1s}}), std::invalid_argument, refused("memory = -1"));
  CHECK_THROWS_MATCHES((RetryBudget{{.max_saved = 0}}), std::invalid_argument, refused("max_saved = 0"));
  CHECK_THROWS_MATCHES((RetryBudget{{.floor_per_second = -1}}), std::invalid_argument,
                       refused("floor_per_second = -1"));

  Asking asking;
  RetryBudget half_a_percent{{.share = 0.005, .floor = 0}};
  for (int i = 0; i < 1000; ++i) first_attempt_fails(half_a_percent, asking);
  CHECK(retries_until_refused(half_a_percent, asking) == 5);
}

TEST_CASE("a retry budget's largest settings and latest times do not overflow [C7]", "[retry_budget]") {
  constexpr int most = 2'147'483'647;
  Asking asking;
  asking.clock.set(TimePoint::min());
  RetryBudget budget{{.share = 1.0,
                      .floor = most,
                      .memory = std::chrono::hours::max(),
                      .max_saved = most,
                      .floor_per_second = most}};
  CHECK(budget.tokens(asking.now) == most + 2e9);
  CHECK(retry_fails(budget, asking));
  asking.clock.set(TimePoint::max());
  CHECK(retry_fails(budget, asking));
  asking.clock.set(TimePoint::min());
  CHECK(retry_fails(budget, asking));

  RetryBudget shortest{{.share = 1.0, .floor = 0, .memory = 10ns, .floor_per_second = most}};
  first_attempt_fails(shortest, asking);
  CHECK(retry_fails(shortest, asking));
  asking.clock.set(TimePoint::max());
  first_attempt_fails(shortest, asking);
  CHECK(retry_fails(shortest, asking));
}

TEST_CASE("a spent retry budget stops retries but never a first attempt [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.0, .floor = 0}};
  for (int i = 0; i < 100; ++i) {
    CHECK(!budget.admit(asking.retry()));
    CHECK(budget.admit(asking.first()));
  }
}

TEST_CASE("a first attempt that does not run deposits nothing [H1, H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0}};
  budget.admit(asking.first());  // another guard refused
  CHECK(budget.tokens(asking.now) == 0.0);
  {
    RetryBudget promised{{.floor = 1}};
    const auto waiting = promised.admit(asking.retry(1s));
    promised.admit(asking.first());
    CHECK(!promised.admit(asking.retry()));  // nor does it give back what another call's retry has
  }
  auto permit = budget.admit(asking.first());
  permit->began(asking.now);
  permit->began(asking.now);
  CHECK(budget.tokens(asking.now) == 1.0);
}

TEST_CASE("a retry budget saves no more than its last seconds earned, and no more than is allowed [H4]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.1, .floor = 0, .memory = 10s}};
  for (int second = 0; second < 600; ++second) {
    for (int i = 0; i < 10; ++i) first_attempt_fails(budget, asking);
    asking.clock.advance(1s);
  }
  CHECK(budget.tokens(asking.now) == 9.0);  // what is nearly ten seconds old is no longer counted
  asking.clock.advance(4s);
  CHECK(budget.tokens(asking.now) == 5.0);
  asking.clock.advance(1min);
  CHECK(budget.tokens(asking.now) == 0.0);

  RetryBudget bounded{{.share = 1.0, .floor = 1, .max_saved = 7}};
  for (int second = 0; second < 5; ++second) {
    for (int i = 0; i < 1000; ++i) first_attempt_fails(bounded, asking);
    asking.clock.advance(1s);
  }
  CHECK(retries_until_refused(bounded, asking) == 1 + 7);
}

TEST_CASE("a retry budget's floor is there at first, and is refilled by deposits, not by time [H4]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.5, .floor = 4}};
  CHECK(retries_until_refused(budget, asking) == 4);
  asking.clock.advance(24h);
  CHECK(retries_until_refused(budget, asking) == 0);
  for (int i = 0; i < 6; ++i) first_attempt_fails(budget, asking);
  asking.clock.advance(24h);
  CHECK(retries_until_refused(budget, asking) == 3);
  for (int i = 0; i < 100; ++i) first_attempt_fails(budget, asking);
  asking.clock.advance(24h);
  CHECK(retries_until_refused(budget, asking) == 4);
}

TEST_CASE("on request a retry that succeeds returns what it took, and no other does [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.0, .floor = 2, .success_refunds = true}};
  auto permit = budget.admit(asking.retry());
  permit->began(asking.now);
  CHECK(budget.tokens(asking.now) == 1.0);
  permit->succeeded(asking.now);
  permit->succeeded(asking.now);
  permit.reset();
  CHECK(budget.tokens(asking.now) == 2.0);
  CHECK(guard_test::attempt_succeeds(budget, asking));
  CHECK(budget.tokens(asking.now) == 2.0);
  CHECK(retries_until_refused(budget, asking) == 2);
}

TEST_CASE("a clock that is set back makes no retry wait longer than the budget's memory [D7]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0, .memory = 10s}};
  first_attempt_fails(budget, asking);
  asking.clock.set(TimePoint{-1h});
  first_attempt_fails(budget, asking);
  CHECK(budget.tokens(asking.now) == 2.0);
  asking.clock.advance(10s);
  CHECK(budget.tokens(asking.now) == 0.0);
}

TEST_CASE(
    "with a retry budget a first attempt reads the clock once, a retry before its wait and after it [P5]",
    "[retry_budget]") {
  Asking asking;
  RetryBudget budget;
  CHECK(guard_test::attempt_succeeds(budget, asking));
  CHECK(asking.clock.readings() == 1);
  CHECK(retry_fails(budget, asking));
  CHECK(asking.clock.readings() == 3);
}

// ---- as Finagle, Linkerd and tower have it ----------------------------------------------------------------------------

// twitter/finagle, RetryBudget: 20 % of the requests of ten seconds, and ten retries a second.
constexpr RetryBudgetOptions like_finagle(double share, int per_second, Duration ttl) {
  return {.share = share, .floor = 0, .memory = ttl, .max_saved = 1'000'000, .floor_per_second = per_second};
}

TEST_CASE(
    "with Finagle's defaults a hundred retries are in reserve, and a fifth of the requests may be retried "
    "[H4]",
    "[retry_budget]") {
  Asking asking;
  RetryBudget budget{like_finagle(0.2, 10, 10s)};
  CHECK(budget.tokens(asking.now) == 100.0);
  for (int i = 0; i < 1000; ++i) first_attempt_fails(budget, asking);
  CHECK(retries_until_refused(budget, asking) == 100 + 200);
  asking.clock.advance(3s);
  CHECK(retries_until_refused(budget, asking) == 30);
}

TEST_CASE("as in Finagle's own tests, of 10,000 requests the share is retried, and the reserve [H4]",
          "[retry_budget]") {
  // (twitter/finagle, RetryBudgetTest: each request deposits and then tries to withdraw; time stands still)
  struct Case {
    Duration ttl;
    int per_second;
    double share;
    int retries;
  };
  const auto one = GENERATE(Case{60s, 0, 0.1, 1000}, Case{60s, 0, 0.5, 5000}, Case{60s, 0, 0.25, 2500},
                            Case{60s, 0, 0.75, 7500}, Case{60s, 0, 0.99, 9900}, Case{60s, 0, 0.999, 9990},
                            Case{60s, 0, 0.9999, 9999}, Case{60s, 0, 0.01, 100}, Case{60s, 0, 0.001, 10},
                            Case{60s, 0, 0.0001, 1}, Case{1s, 10, 0.0, 10}, Case{2s, 5, 0.0, 10},
                            Case{1s, 10, 0.1, 1010}, Case{2s, 5, 0.5, 5010});
  CAPTURE(one.share, one.per_second);
  Asking asking;
  RetryBudget budget{like_finagle(one.share, one.per_second, one.ttl)};
  CHECK(budget.tokens(asking.now) == std::chrono::duration<double>{one.ttl}.count() * one.per_second);
  int retried = 0;
  for (int i = 0; i < 10'000; ++i) {
    first_attempt_fails(budget, asking);
    retried += retry_fails(budget, asking);
  }
  CHECK(retried == one.retries);
}

TEST_CASE("retry deposits expire, as in tower's tests of its window [H4]", "[retry_budget]") {
  // (tower-rs/tower, tps_budget: tps_leaky, tps_slots, tps_reserve)
  Asking asking;
  RetryBudget leaky{like_finagle(1.0, 0, 1s)};
  CHECK(!retry_fails(leaky, asking));
  first_attempt_fails(leaky, asking);
  asking.clock.advance(3s);
  CHECK(!retry_fails(leaky, asking));

  RetryBudget slots{like_finagle(0.5, 0, 1s)};
  first_attempt_fails(slots, asking);
  first_attempt_fails(slots, asking);
  asking.clock.advance(901ms);
  CHECK(retry_fails(slots, asking));
  asking.clock.advance(2001ms);
  first_attempt_fails(slots, asking);
  asking.clock.advance(301ms);
  first_attempt_fails(slots, asking);
  asking.clock.advance(801ms);
  first_attempt_fails(slots, asking);
  CHECK(retry_fails(slots, asking));  // the first deposit has expired, the second and the third have not
  CHECK(!retry_fails(slots, asking));

  RetryBudget reserve{like_finagle(1.0, 5, 1s)};
  CHECK(retries_until_refused(reserve, asking) == 5);
}

TEST_CASE("a retry deposit lasts for the budget's memory, to within a tenth [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0, .memory = 10s}};
  first_attempt_fails(budget, asking);
  asking.clock.advance(500ms);
  first_attempt_fails(budget, asking);
  asking.clock.advance(9'499ms);  // the memory's tenth tenth
  CHECK(budget.tokens(asking.now) == 2.0);
  asking.clock.advance(1ms);
  CHECK(budget.tokens(asking.now) == 0.0);
}

// ---- permits ----------------------------------------------------------------------------------------------------------

TEST_CASE("a retry that does not begin returns its withdrawal, and no more [H1]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 1}};
  for (int i = 0; i < 2; ++i) first_attempt_fails(budget, asking);
  {
    auto first = budget.admit(asking.retry());
    auto second = budget.admit(asking.retry());
    auto third = budget.admit(asking.retry());
    REQUIRE((first && second && third));
    CHECK(third->still_admitted(asking.now));  // woken, and then another guard refused
    CHECK(third->still_admitted(asking.now));  // asked twice, taken once
    CHECK(!budget.admit(asking.retry()));
    const auto moved = std::move(*first);
    first.reset();  // what was moved from gives nothing back
    CHECK(!budget.admit(asking.retry()));
  }
  CHECK(budget.tokens(asking.now) == 3.0);
  CHECK(retries_until_refused(budget, asking) == 3);
}

TEST_CASE(
    "a withdrawal returned at the edge of the memory has the value that it would have if it had stayed [H1, "
    "H4]",
    "[retry_budget]") {
  const bool refund = GENERATE(false, true);  // by a retry that succeeds, or by one that does not begin
  const auto [away, left] = GENERATE(table<Duration, double>({{9'999ms, 2.0}, {10s, 1.0}, {1h, 1.0}}));
  CAPTURE(refund, away);
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 1, .memory = 10s, .success_refunds = true}};
  first_attempt_fails(budget, asking);
  std::vector<RetryBudget::Permit> permits;
  while (auto permit = budget.admit(asking.retry())) permits.push_back(*std::move(permit));
  REQUIRE(permits.size() == 2);
  for (auto& permit : permits)
    if (refund) permit.still_admitted(asking.now), permit.began(asking.now);
  asking.clock.advance(away);
  CHECK(budget.tokens(asking.now) == 0.0);
  for (auto& permit : permits)
    if (refund) permit.succeeded(asking.now);
  permits.clear();
  CHECK(budget.tokens(asking.now) == left);
  CHECK(retries_until_refused(budget, asking) == left);
}

TEST_CASE("a retry that has begun stays counted, however it ends [H4]", "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 1.0, .floor = 0}};
  for (int i = 0; i < 4; ++i) first_attempt_fails(budget, asking);
  for (int i = 0; i < 4; ++i) {
    auto permit = budget.admit(asking.retry());
    REQUIRE(permit);
    permit->began(asking.now);
    if (i == 0) permit->succeeded(asking.now);
    if (i == 1) permit->failed(asking.now, true);
    if (i == 2) permit->failed(asking.now, false);
    permit.reset();  // the last one without any result
    CHECK(budget.tokens(asking.now) == 3.0 - i);
  }
}

TEST_CASE(
    "a retry is refused when its wait ends if its deposits expired meanwhile and no calls came [H2, H4]",
    "[retry_budget]") {
  Asking asking;
  RetryBudget budget{{.share = 0.5, .floor = 1, .memory = 10s}};
  for (int i = 0; i < 4; ++i) first_attempt_fails(budget, asking);
  auto one = budget.admit(asking.retry(30s));
  auto other = budget.admit(asking.retry(30s));
  REQUIRE((one && other));
  asking.clock.advance(30s);
  CHECK(one->still_admitted(asking.now));  // by the floor
  CHECK(!other->still_admitted(asking.now));
  for (int i = 0; i < 2; ++i) first_attempt_fails(budget, asking);
  CHECK(other->still_admitted(asking.now));
}

TEST_CASE("waits longer than the budget's memory cost a steady client none of its share [H4]",
          "[retry_budget]") {
  Asking asking;
  RetryBudget budget;
  std::deque<std::pair<TimePoint, RetryBudget::Permit>> waiting;
  int retries = 0, refused_on_waking = 0;
  for (int call = 0; call < 10'000; ++call) {
    first_attempt_fails(budget, asking);
    if (auto permit = budget.admit(asking.retry(30s)))
      waiting.emplace_back(asking.clock.now() + 30s, *std::move(permit));
    for (; !waiting.empty() && waiting.front().first <= asking.clock.now(); waiting.pop_front()) {
      auto& permit = waiting.front().second;
      if (permit.still_admitted(asking.now))
        permit.began(asking.now), ++retries;
      else
        ++refused_on_waking;
    }
    asking.clock.advance(100ms);
  }
  CHECK(retries == 972);  // of 1,002; 30 wait
  CHECK(refused_on_waking == 0);
}

#ifdef ENCORE_TESTS_READ_ONLY
TEST_CASE("while a retry budget is full a success writes nothing to shared memory [P10]", "[retry_budget]") {
  const Asking asking;
  guard_test::ReadOnly<RetryBudget> budget{RetryBudgetOptions{.share = 0.1, .max_saved = 3}};
  for (int i = 0; i < 30; ++i) CHECK(guard_test::attempt_succeeds(budget.get(), asking));
  budget.forbid_writing();
  for (int i = 0; i < 3; ++i) CHECK(guard_test::attempt_succeeds(budget.get(), asking));
  budget.allow_writing();
  CHECK(budget.get().tokens(asking.now) == 2.0 + 3.0);
}
#endif

// ---- in a policy ------------------------------------------------------------------------------------------------------

struct Setting {
  FakeClock clock{};
  encore::Now now{clock};
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
  const auto policy = setting.policy(budget, retries).with(encore::ConstantBackoff{0s});
  for (int i = 0; i < calls; ++i) {
    CHECK_THROWS_AS(policy.run([&]() -> int {
      ++attempts;
      throw Transient{"down"};
    }),
                    Transient);
  }
  return attempts;
}

TEST_CASE("with a retry budget, load grows in a total outage by the share and no more [H4]",
          "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 0.1, .floor = 0}};
  CHECK(attempts_in_an_outage(setting, budget, 2, 3000) == 3300);  // 1.10 times; three times without a budget
  RetryBudget none{{.share = 0.0, .floor = 0}};
  CHECK(attempts_in_an_outage(setting, none, 2, 100) == 100);
  RetryBudget a_third{{.share = 1.0 / 3.0, .floor = 0}};
  CHECK(attempts_in_an_outage(setting, a_third, 9, 999) ==
        999 + 332);  // 0.333333 is cut off, never rounded up
}

TEST_CASE(
    "the retry budget is asked before the sleep, and the last error is kept (fault 36: failsafe-go) [H2]",
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

TEST_CASE(
    "a call whose retry is refused when its wait ends has the budget's reason, its last error and its wait "
    "[H2]",
    "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 1.0, .floor = 0, .memory = 10s}};
  Scripted<int> tool{throws<Transient>("slow")};
  const auto outcome =
      setting.policy(budget, 9).with(encore::ConstantBackoff{30s}, encore::ReturnOutcome{}).run(tool);
  CHECK(outcome.reason() == StopReason::retry_budget_spent);
  CHECK(outcome.attempts() == 1);
  CHECK(outcome.slept() == 30s);
  CHECK_THROWS_WITH(std::rethrow_exception(outcome.failure().error), "slow");
}

TEST_CASE("a retry whose wait is stopped is returned to the budget unspent [H2, K1]", "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 1.0, .floor = 0}};
  std::stop_source source;
  const auto token = source.get_token();
  setting.clock.after(500ms, [&] { source.request_stop(); });
  CHECK_THROWS_AS(setting.policy(budget, 9).run({.stop = token}, []() -> int { throw Transient{"down"}; }),
                  Transient);
  CHECK(setting.clock.sleeps() == Durations{500ms});
  CHECK(budget.tokens(setting.now) == 1.0);
}

TEST_CASE("several policies can share one retry budget [H8]", "[retry_budget]") {
  Setting setting;
  RetryBudget budget{{.share = 0.5, .floor = 0}};
  const auto one = setting.policy(budget, 9);
  const auto other = setting.policy(budget, 9);
  for (int i = 0; i < 4; ++i) CHECK(one.run([] { return 1; }) == 1);
  Scripted<int> down{always(throws<Transient>("down"))};
  CHECK_THROWS_AS(other.run(down), Transient);
  CHECK(down.calls() == 3);  // five first attempts, two retries
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
    if (encore::shared::Random{encore::shared::mix(draws_.fetch_add(1))}.draw() < 0.05)
      throw std::runtime_error{"the clock broke"};
  }
  FakeClock& fake_;
  mutable std::atomic<std::uint64_t> draws_{0};
};

// Calls that are stopped, refused and broken at every point, by several policies that share the budget.
void use_at_random(FaultyClock& clock, RetryBudget& budget, Counts& counts, std::uint64_t seed, int calls) {
  encore::shared::Random random{seed};
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

TEST_CASE("every acquired retry is spent or returned, whatever throws and wherever (fault 37) [H1, H4]",
          "[retry_budget]") {
  FakeClock fake{{.max_attempts_without_progress = 1'000'000}};
  FaultyClock clock{fake};
  Counts counts;
  RetryBudget budget{{.share = 0.3, .floor = 0, .memory = 8'760h, .max_saved = 1'000'000}};
  use_at_random(clock, budget, counts, 1, 5000);
  CHECK(budget.tokens(encore::Now{fake}) ==
        static_cast<double>(300'000 * counts.first_attempts - 1'000'000 * counts.retries) / 1e6);
  CHECK(counts.retries > 500);
}

TEST_CASE("every acquired retry is spent or returned under contention (fault 37) [H1, H4, H8]",
          "[retry_budget][threads]") {
  FakeClock fake{{.max_attempts_without_progress = 1'000'000}};
  FaultyClock clock{fake};
  Counts counts;
  RetryBudget budget{{.share = 0.5, .floor = 0, .memory = 8'760h, .max_saved = 1'000'000}};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] { use_at_random(clock, budget, counts, 100 + thread, 400); });
  }
  CHECK(budget.tokens(encore::Now{fake}) ==
        0.5 * static_cast<double>(counts.first_attempts) - static_cast<double>(counts.retries));
  CHECK(counts.retries > 100);
}

TEST_CASE(
    "threads that cross from one tenth of the memory to the next stay within the budget's bound [H4, H8]",
    "[retry_budget][threads]") {
  constexpr int calls = 4 * 3'000;
  Asking asking;
  RetryBudget budget{{.share = 0.5, .floor = 3, .memory = 10ms}};
  std::atomic<int> retries{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int call = 0; call < calls / 4; ++call) {
          guard_test::attempt_fails(budget, asking);
          retries += retry_fails(budget, asking);
          asking.clock.advance(300us);
        }
      });
  }
  CHECK(retries <= calls / 2 + 3);
  CHECK(retries > calls / 3);
  CHECK(budget.tokens(asking.now) <= calls / 2 + 3 - retries);
}

}  // namespace

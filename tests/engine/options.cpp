#include <encore/before_retry.hpp>
#include <encore/engine/options.hpp>
#include <encore/hint.hpp>
#include <encore/nesting.hpp>
#include <encore/never_retry.hpp>
#include <encore/outcome.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

using namespace std::chrono_literals;
using namespace encore;
using encore::testing::FakeClock, encore::testing::Recorder;

namespace {

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ConnectionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
using On = RetryOn<TimeoutError>;

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// ---- the type can be spelled, as the card says --------------------------------------------------------------------------

using Card = RetryPolicy<SteadyClock, On>;
static_assert(same<decltype(RetryPolicy{On{}}), Card>);
// Numbers do not change it: whatever count, backoff numbers, jitter share or hint cap.
static_assert(same<decltype(RetryPolicy{MaxRetries{9}, On{}}), Card>);
static_assert(same<decltype(RetryPolicy{On{}, MaxAttempts{9}, SteadyClock{}}), Card>);
static_assert(same<decltype(RetryPolicy{On{}, UnlimitedRetries{}, ExponentialBackoff{.initial_delay = 5s},
                                        ProportionalJitter{0.5}, HintCap{1s}, Rethrow{}}),
                   Card>);
static_assert(sizeof(Card) <= 64);  // P12

// The rest stands in one order, whatever the order in which it was given.
using Rest =
    RetryPolicy<SteadyClock, On, Options<TimeBudget, ConstantBackoff, NoJitter, ReturnOutcome, Seed>>;
static_assert(
    same<decltype(RetryPolicy{On{}, TimeBudget{5s}, ConstantBackoff{}, NoJitter{}, ReturnOutcome{}, Seed{1}}),
         Rest>);
static_assert(
    same<decltype(RetryPolicy{Seed{1}, ReturnOutcome{}, NoJitter{}, On{}, ConstantBackoff{}, TimeBudget{5s}}),
         Rest>);

// What is shared is referred to, and says so in the type.
using Shared = RetryPolicy<FakeClock&, On, Options<Recorder&>>;
static_assert(
    same<decltype(RetryPolicy{std::declval<Recorder&>(), On{}, std::declval<FakeClock&>()}), Shared>);

// Never-lists, observers and guards stand after the single ones, in the order given.
using Many = RetryPolicy<SteadyClock, On, Options<NoJitter, NeverRetry<int>, NeverRetry<long>, Recorder&>>;
static_assert(same<decltype(RetryPolicy{std::declval<Recorder&>(), NeverRetry<int>{}, On{},
                                        NeverRetry<long>{}, NoJitter{}}),
                   Many>);

// ---- with: one role replaced, others kept ---------------------------------------------------------------------------------

template <class Policy, class... G>
using With = decltype(std::declval<const Policy&>().with(std::declval<G>()...));
template <class Policy, class... Role>
using Without = decltype(std::declval<const Policy&>().template without<Role...>());

static_assert(same<With<Card, MaxRetries>, Card> && same<With<Card, UnlimitedRetries>, Card>);
static_assert(same<With<Card, FakeClock&>, RetryPolicy<FakeClock&, On>>);
static_assert(same<With<Card, RetryOn<ConnectionError>>, RetryPolicy<SteadyClock, RetryOn<ConnectionError>>>);
static_assert(same<With<Card, NoJitter, FakeClock&>, RetryPolicy<FakeClock&, On, Options<NoJitter>>>);
static_assert(
    same<With<With<Card, NoJitter>, FullJitter>, RetryPolicy<SteadyClock, On, Options<FullJitter>>>);
static_assert(same<With<With<Card, NoJitter>, ProportionalJitter>, Card>);
static_assert(same<With<Rest, TimeBudget>, Rest>);
static_assert(same<With<Card, Recorder&, NoJitter, FakeClock&>,
                   RetryPolicy<FakeClock&, On, Options<NoJitter, Recorder&>>>);
static_assert(same<With<With<Card, NeverRetry<int>>, NeverRetry<long>>,
                   RetryPolicy<SteadyClock, On, Options<NeverRetry<int>, NeverRetry<long>>>>);

// ---- without: every role back at its default, or empty -----------------------------------------------------------------------

static_assert(
    same<Without<Rest, role::TimeBudget, role::Backoff, role::Jitter, role::OnFailure, role::Seed>, Card>);
static_assert(same<Without<Shared, role::Clock>, RetryPolicy<SteadyClock, On, Options<Recorder&>>>);
static_assert(same<Without<Shared, role::Clock, role::Observer>, Card>);
static_assert(same<Without<Card>, Card>);

template <class Role, class G>
constexpr bool comes_and_goes = same<Without<With<Card, G>, Role>, Card> && !same<With<Card, G>, Card>;
static_assert(comes_and_goes<role::TimeBudget, TimeBudget>);
static_assert(comes_and_goes<role::MinAttemptTime, MinAttemptTime>);
static_assert(comes_and_goes<role::AttemptTimeout, AttemptTimeout>);
static_assert(comes_and_goes<role::BeforeRetry, BeforeRetry<void (*)()>>);
static_assert(comes_and_goes<role::Backoff, ConstantBackoff>);
static_assert(comes_and_goes<role::Jitter, FullJitter>);
static_assert(comes_and_goes<role::HintSource, HintFrom<Duration (*)(const TimeoutError&)>>);
static_assert(comes_and_goes<role::OnFailure, ReturnOutcome>);
static_assert(comes_and_goes<role::Unmatched, HandleUnmatched>);
static_assert(comes_and_goes<role::Seed, Seed>);
static_assert(comes_and_goes<role::Nesting, WhenNested>);
static_assert(comes_and_goes<role::Fibers, OnFibers>);
static_assert(comes_and_goes<role::InnerAttempts, AlreadyRetries>);
static_assert(comes_and_goes<role::WhenRefused, WaitWhenRefused>);
static_assert(comes_and_goes<role::Never, NeverRetry<int>>);
static_assert(comes_and_goes<role::Observer, Recorder&>);

TEST_CASE("a policy's with replaces one option and keeps the others", "[options]") {
  const RetryPolicy policy{On{},
                           MaxRetries{7},
                           TimeBudget{9s},
                           MinAttemptTime{3ms},
                           AttemptTimeout{4s},
                           HintCap{5s},
                           ExponentialBackoff{.initial_delay = 6s},
                           ProportionalJitter{0.5},
                           Seed{8},
                           WhenNested{Nested::make_single}};
  const auto check = [](const auto& changed, int retries, Duration budget, Duration least, Duration timeout,
                        Duration cap, Duration initial, double ratio, std::uint64_t seed, Nested nested) {
    CHECK(changed.max_retries() == retries);
    CHECK(changed.time_budget() == budget);
    CHECK(changed.min_attempt_time() == least);
    CHECK(changed.attempt_timeout() == timeout);
    CHECK(changed.hint_cap() == cap);
    CHECK(changed.backoff()(0) == initial);
    CHECK(changed.jitter().ratio == ratio);
    CHECK(changed.seed() == seed);
    CHECK(changed.nested() == nested);
  };
  constexpr auto single = Nested::make_single;
  check(policy, 7, 9s, 3ms, 4s, 5s, 6s, 0.5, 8, single);
  check(policy.with(MaxAttempts{2}), 1, 9s, 3ms, 4s, 5s, 6s, 0.5, 8, single);
  check(policy.with(TimeBudget{1s}), 7, 1s, 3ms, 4s, 5s, 6s, 0.5, 8, single);
  check(policy.with(MinAttemptTime{1s}), 7, 9s, 1s, 4s, 5s, 6s, 0.5, 8, single);
  check(policy.with(AttemptTimeout{1s}), 7, 9s, 3ms, 1s, 5s, 6s, 0.5, 8, single);
  check(policy.with(HintCap{1s}), 7, 9s, 3ms, 4s, 1s, 6s, 0.5, 8, single);
  check(policy.with(ConstantBackoff{1s}), 7, 9s, 3ms, 4s, 5s, 1s, 0.5, 8, single);
  check(policy.with(ProportionalJitter{0.1}), 7, 9s, 3ms, 4s, 5s, 6s, 0.1, 8, single);
  check(policy.with(Seed{1}), 7, 9s, 3ms, 4s, 5s, 6s, 0.5, 1, single);
  check(policy.with(WhenNested{}), 7, 9s, 3ms, 4s, 5s, 6s, 0.5, 8, Nested::report);
  check(policy.with(RetryOn<ConnectionError>{}), 7, 9s, 3ms, 4s, 5s, 6s, 0.5, 8, single);
  check(policy.with(ReturnOutcome{}, HandleUnmatched{}, NeverRetry<int>{}), 7, 9s, 3ms, 4s, 5s, 6s, 0.5, 8,
        single);
  check(policy.with(), 7, 9s, 3ms, 4s, 5s, 6s, 0.5, 8, single);
}

TEST_CASE("a policy's without restores one option's default and keeps the others [A1]", "[options]") {
  const RetryPolicy policy{On{}, MaxRetries{7}, TimeBudget{9s}, HintCap{5s}, Seed{8}};
  CHECK(policy.without<role::CountLimit>().max_attempts() == std::nullopt);  // time is limited still
  CHECK(policy.without<role::CountLimit, role::TimeBudget>().max_retries() == 2);
  CHECK(policy.without<role::TimeBudget>().max_retries() == 7);
  CHECK(policy.without<role::HintCap>().hint_cap() == 120s);
  CHECK(policy.without<role::Seed>().seed() == std::nullopt);
  CHECK(policy.without<role::Seed>().hint_cap() == 5s);
}

TEST_CASE("a policy's with and without do not change the policy itself [L1]", "[options]") {
  FakeClock clock;
  Recorder trace;
  const RetryPolicy policy{On{}, MaxRetries{7}};
  const auto other = policy.with(clock, trace, MaxRetries{1});
  policy.run([] {});
  CHECK(policy.max_retries() == 7);
  CHECK(trace.events().empty());
  CHECK(&other.clock() == &clock);
}

TEST_CASE("settings supply many options, and each of them can be replaced", "[options]") {
  const RetryPolicy policy{RetrySettings{.max_retries = 7, .seed = 8}, On{}};
  CHECK(policy.seed() == 8);
  CHECK(policy.with(Seed{9}).seed() == 9);
  CHECK(policy.with(Seed{9}).max_retries() == 7);
  STATIC_CHECK(same<Without<std::remove_const_t<decltype(policy)>, role::TimeBudget, role::MinAttemptTime,
                            role::AttemptTimeout, role::Backoff, role::Jitter, role::Seed>,
                    Card>);
}

// ---- the lists beneath ---------------------------------------------------------------------------------------------------

static_assert(same<detail::join_t<Options<int>, Options<>, Options<long, char>>, Options<int, long, char>>);
static_assert(same<detail::join_t<>, Options<>>);
static_assert(same<detail::find_t<role::Jitter, Options<NoJitter, FullJitter>>, NoJitter>);
static_assert(same<detail::find_t<role::Jitter, Options<On>>, ProportionalJitter>);
static_assert(detail::how_many<role::Never, Options<NeverRetry<int>, NoJitter, NeverRetry<long>>> == 2);
static_assert(detail::TakesOne<role::Jitter, Options<NoJitter>> &&
              !detail::TakesOne<role::Jitter, Options<NoJitter, FullJitter>>);
static_assert(detail::index_in<role::Clock, detail::SingleRoles> == 0);
static_assert(detail::index_in<role::InnerAttempts, detail::SingleRoles> == 16);
static_assert(!detail::is_single<role::Observer> && detail::is_single<role::InnerAttempts>);

}  // namespace

#include <encore/encore.hpp>
#include <encore/plain_retries.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <vector>

using namespace encore;
using namespace std::chrono_literals;
using encore::testing::Durations;
using encore::testing::FakeClock;

namespace {

struct Slow : std::runtime_error {
  std::optional<Duration> hint;
  explicit Slow(std::optional<Duration> h = std::nullopt) : std::runtime_error{"slow"}, hint{h} {}
  std::optional<Duration> retry_after() const { return hint; }
};

template <class Policy>
using PlainOf = encore::detail::PlainRetries<std::remove_cvref_t<Policy>>;

// Does another attempt follow when `error` has been thrown? If so, waits.
template <class Retries, class Error>
bool goes_on_after(Retries& retries, const Error& error) {
  auto goes_on = false;
  try {
    throw error;
  } catch (const std::exception& caught) {
    goes_on = retries.threw(&caught);
  }
  if (goes_on) retries.wait();
  return goes_on;
}

// The waits of the decision in its general form, for the same failures.
template <class Policy>
Durations waits_in_general(const Policy& policy, const std::vector<Slow>& errors) {
  Durations waits;
  Retrying retrying{policy, Call{}};
  if (!retrying.begin().goes_on()) return waits;
  for (const auto& error : errors) {
    Decision next;
    try {
      throw error;
    } catch (const std::exception& caught) {
      next = retrying.threw(&caught);
    }
    if (!next.goes_on()) break;
    waits.push_back(next.wait);
    if (!retrying.resume().goes_on()) break;
  }
  return waits;
}

}  // namespace

TEST_CASE("plain retries leave nothing to clean up [P1 P6]", "[plain_retries]") {
  const RetryPolicy policy{RetryOn<Slow>{}};
  STATIC_REQUIRE(std::is_trivially_destructible_v<PlainOf<decltype(policy)>>);
  STATIC_REQUIRE(sizeof(PlainOf<decltype(policy)>) <= 64);
}

TEST_CASE("plain retries wait as long, and as often, as the decision in its general form says [A1 C1 E1]",
          "[plain_retries]") {
  FakeClock clock;
  const std::vector<Slow> errors{Slow{}, Slow{}, Slow{7s}, Slow{0s}, Slow{}, Slow{}, Slow{}};
  const auto compare = [&](const auto& policy) {
    FakeClock own;
    const auto with_own_clock = policy.with(own);
    PlainOf<decltype(with_own_clock)> retries{with_own_clock};
    auto attempts = 1;
    for (const auto& error : errors) {
      if (!goes_on_after(retries, error)) break;
      ++attempts;
    }
    Durations waits;
    for (const auto wait : waits_in_general(policy, errors)) {
      if (wait > 0s) waits.push_back(wait);
    }
    CHECK(own.sleeps() == waits);
    return attempts;
  };
  CHECK(compare(RetryPolicy{RetryOn<Slow>{}, NoJitter{}, MaxRetries{5}, clock}) == 6);
  CHECK(compare(RetryPolicy{RetryOn<Slow>{}, NoJitter{}, MaxRetries{0}, clock}) == 1);
  CHECK(compare(RetryPolicy{RetryOn<Slow>{}, NoJitter{}, UnlimitedRetries{}, ConstantBackoff{0s}, clock}) ==
        8);
  CHECK(compare(RetryPolicy{RetryOn<Slow>{}, NoJitter{}, FibonacciBackoff{100ms}, MaxRetries{9}, clock}) ==
        8);
  CHECK(compare(RetryPolicy{RetryOn<Slow>{}, NoJitter{}, MaxRetries{9}, HintCap{6s}, clock}) == 3);
}

TEST_CASE("plain retries end with what must not be retried [B3 B4 B7]", "[plain_retries]") {
  const RetryPolicy policy{RetryOnEveryException{}, NoJitter{}, ConstantBackoff{0s}, MaxRetries{9}};
  PlainOf<decltype(policy)> retries{policy};
  CHECK(goes_on_after(retries, Slow{}));
  CHECK_FALSE(goes_on_after(retries, Cancelled{}));
  CHECK_FALSE(goes_on_after(retries, std::system_error{std::make_error_code(std::errc::operation_canceled)}));

  const RetryPolicy only_slow{RetryOn<Slow>{}, NoJitter{}, ConstantBackoff{0s}};
  PlainOf<decltype(only_slow)> other{only_slow};
  CHECK_FALSE(goes_on_after(other, std::logic_error{"wrong"}));

  const RetryPolicy broken{RetryIf{[](const Slow&) -> bool { throw 1; }}, NoJitter{}, ConstantBackoff{0s}};
  PlainOf<decltype(broken)> third{broken};
  CHECK_FALSE(goes_on_after(third, Slow{}));
}

TEST_CASE("plain retries wait after values that are failures [B6 B7]", "[plain_retries]") {
  FakeClock clock;
  const RetryPolicy policy{RetryIfResult{[](int value) { return value < 0; }}, NoJitter{}, clock};
  PlainOf<decltype(policy)> retries{policy};
  CHECK(retries.waited_after(-1, StopReason::none));
  CHECK(retries.waited_after(-1, StopReason::none));
  CHECK_FALSE(retries.waited_after(-1, StopReason::none));
  CHECK(clock.sleeps() == Durations{1s, 2s});

  PlainOf<decltype(policy)> others{policy};
  CHECK_FALSE(others.waited_after(-1, StopReason::predicate_threw));
}

TEST_CASE("two plain calls draw different waits [C8]", "[plain_retries]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Slow>{}, clock};
  for (int call = 0; call < 2; ++call) {
    PlainOf<decltype(policy)> retries{policy};
    CHECK(goes_on_after(retries, Slow{}));
  }
  const auto waits = clock.sleeps();
  REQUIRE(waits.size() == 2);
  CHECK(waits[0] != waits[1]);
}

TEST_CASE("an exception that nobody judges passes a policy on values untouched [B3]", "[plain_retries]") {
  const RetryPolicy policy{RetryIfResult{[](int value) { return value < 0; }}, ConstantBackoff{0s}};
  auto attempts = 0;
  const auto call = [&]() -> int {
    if (++attempts == 2) throw Slow{};
    return -1;
  };
  CHECK_THROWS_AS(policy.run(call), Slow);
  CHECK(attempts == 2);
}

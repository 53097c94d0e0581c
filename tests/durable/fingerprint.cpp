#include <encore/backoff.hpp>
#include <encore/durable/fingerprint.hpp>
#include <encore/jitter.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
using namespace encore;

namespace {

constexpr RetryPolicy policy{RetryOn<std::runtime_error>{}};

static_assert(Fingerprint::of(policy) == Fingerprint::of(policy.with(MaxRetries{2})));
static_assert(Fingerprint{17}.bits() == 17);

TEST_CASE("a fingerprint includes everything by which a policy decides", "[fingerprint]") {
  std::set<std::uint64_t> prints{Fingerprint::of(policy).bits()};
  std::size_t policies = 1;
  const auto differs = [&](const auto& other) {
    ++policies;
    prints.insert(Fingerprint::of(other).bits());
    return prints.size() == policies;
  };
  CHECK(differs(policy.with(MaxRetries{3})));
  CHECK(differs(policy.with(UnlimitedRetries{})));
  CHECK(differs(policy.with(MaxRetries{2}, TimeBudget{2s})));
  CHECK(differs(policy.with(MaxRetries{2}, TimeBudget{0s})));
  CHECK(differs(policy.with(MinAttemptTime{2s})));
  CHECK(differs(policy.with(HintCap{2s})));
  CHECK(differs(policy.with(NoJitter{})));
  CHECK(differs(policy.with(FullJitter{})));
  CHECK(differs(policy.with(EqualJitter{})));
  CHECK(differs(policy.with(ConstantBackoff{1s})));
  CHECK(differs(policy.with(ExponentialBackoff{.factor = 3})));
  // The second wait is the first that a cap of 1.5 s changes.
  CHECK(differs(policy.with(ExponentialBackoff{.max_delay = 1500ms})));
  // A jitter that lengthens hints otherwise, and no wait: the waits are 0.
  CHECK(differs(policy.with(ConstantBackoff{0s}, NoJitter{})));
  CHECK(differs(policy.with(ConstantBackoff{0s}, ProportionalJitter{.ratio = 0.1})));
}

TEST_CASE("settings that change no decision do not change the fingerprint", "[fingerprint]") {
  CHECK(Fingerprint::of(policy.with(RetryOnEveryException{})) == Fingerprint::of(policy));
  CHECK(Fingerprint::of(policy.with([](const Event&) {})) == Fingerprint::of(policy));
  CHECK(Fingerprint::of(policy.with(MaxAttempts{3})) == Fingerprint::of(policy));
  // Of three attempts the third wait is not one.
  const ExponentialBackoff capped{.max_delay = 2500ms};
  CHECK(Fingerprint::of(policy.with(NoJitter{}, capped)) ==
        Fingerprint::of(policy.with(NoJitter{}, ExponentialBackoff{})));
}

TEST_CASE("a fingerprint is written as sixteen hexadecimal digits", "[fingerprint]") {
  CHECK(Fingerprint{0x0123456789abcdefU}.text() == "0123456789abcdef");
  CHECK(Fingerprint{0}.text() == "0000000000000000");
  CHECK(Fingerprint{~std::uint64_t{0}}.text() == "ffffffffffffffff");
}

}  // namespace

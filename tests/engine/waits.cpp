#include <encore/backoff_shapes.hpp>
#include <encore/engine/waits.hpp>
#include <encore/jitter_shapes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using encore::ChainedBackoff;
using encore::ConstantBackoff;
using encore::DecorrelatedJitter;
using encore::Duration;
using encore::ExponentialBackoff;
using encore::FullJitter;
using encore::JitterInput;
using encore::NoJitter;
using encore::ProportionalJitter;
using encore::WaitGenerator;

const ExponentialBackoff table{.initial_delay = 100ms, .factor = 2.0, .max_delay = 1s};

struct HalfAsMuchAgain {  // of the wait before; looks back, as a jitter of one's own is taken to do
  using role = encore::role::Jitter;
  constexpr Duration operator()(const JitterInput& input) const {
    return input.previous + input.previous / 2;
  }
};

struct ThreeTimesTheFirst {
  using role = encore::role::Jitter;
  static constexpr bool looks_at_delay = false;
  constexpr Duration operator()(const JitterInput& input) const { return input.initial + 2 * input.delay; }
};
struct Asked {  // how often, for the first delay and for later ones
  using role = encore::role::Backoff;
  int& first;
  int& later;
  Duration operator()(int retry) const {
    ++(retry == 0 ? first : later);
    return 1s;
  }
};

}  // namespace

TEST_CASE("a backoff is not asked for delays that the jitter does not use [C9]", "[waits]") {
  STATIC_CHECK(!encore::looks_at_delay<DecorrelatedJitter> && encore::looks_at_initial<DecorrelatedJitter>);
  STATIC_CHECK(encore::looks_at_delay<FullJitter> && !encore::looks_at_initial<FullJitter>);
  int first = 0, later = 0;
  const Asked backoff{first, later};
  WaitGenerator<Asked, ProportionalJitter> by_delay{backoff, 4};
  for (int i = 0; i < 3; ++i) CHECK(by_delay.next(backoff, ProportionalJitter{}, 0.5) == 1s);
  CHECK(first == 0);
  CHECK(later == 3);
  WaitGenerator<Asked, HalfAsMuchAgain> by_all{backoff, 4};  // says nothing of itself
  by_all.next(backoff, HalfAsMuchAgain{}, 0.5);
  CHECK(first > 0);
  CHECK(later == 4);
  WaitGenerator<Asked, ThreeTimesTheFirst> by_the_first{backoff, 4};
  for (int i = 0; i < 3; ++i) CHECK(by_the_first.next(backoff, ThreeTimesTheFirst{}, 0.5) == 3s);
  by_the_first.skip(backoff);
  CHECK(later == 4);
  // Cap and floor are still those of the retry: from 4 s on, the two parts hold it at 6 s, and then at 1 s.
  const ChainedBackoff chain{2, ExponentialBackoff{.initial_delay = 4s, .max_delay = 6s},
                             ExponentialBackoff{.initial_delay = 1s, .max_delay = 1s}};
  WaitGenerator<decltype(chain), DecorrelatedJitter> falling{chain};
  CHECK(falling.next(chain, DecorrelatedJitter{}, 0.5) == 5s);
  CHECK(falling.next(chain, DecorrelatedJitter{}, 0.75) == 5'500ms);
  CHECK(falling.next(chain, DecorrelatedJitter{}, 0.5) == 1s);
}

TEST_CASE("a wait is remembered for decorrelated jitter only", "[waits]") {
  WaitGenerator<ExponentialBackoff, DecorrelatedJitter> remembering{table};
  CHECK(remembering.previous() == 100ms);
  remembering.next(table, DecorrelatedJitter{}, 0.75);
  CHECK(remembering.previous() == 250ms);
  WaitGenerator<ExponentialBackoff, FullJitter> forgetting{table};
  forgetting.next(table, FullJitter{}, 0.75);
  CHECK(forgetting.previous() == 0s);
}

TEST_CASE("a hint that replaces a wait advances the backoff and leaves the jitter's memory unchanged [E1]",
          "[waits]") {
  WaitGenerator<ExponentialBackoff, NoJitter> waits{table};
  waits.skip(table);
  CHECK(waits.next(table, NoJitter{}, 0.0) == 200ms);
  WaitGenerator<ExponentialBackoff, DecorrelatedJitter> remembering{table};
  CHECK(remembering.next(table, DecorrelatedJitter{}, 0.75) == 250ms);  // 100 + 3/4 of the way to 300
  remembering.skip(table);
  CHECK(remembering.next(table, DecorrelatedJitter{}, 0.5) == 425ms);  // half way from 100 to 3 * 250
}

TEST_CASE("a call's waits take 24 bytes, its random draws 8 more [P9]", "[waits]") {
  STATIC_CHECK(sizeof(WaitGenerator<ExponentialBackoff, ProportionalJitter>) <= 24);
  STATIC_CHECK(sizeof(WaitGenerator<ExponentialBackoff, DecorrelatedJitter>) <= 24);
  STATIC_CHECK(
      sizeof(WaitGenerator<ChainedBackoff<ConstantBackoff, ExponentialBackoff>, DecorrelatedJitter>) <= 24);
}

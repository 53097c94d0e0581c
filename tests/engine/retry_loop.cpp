#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace encore;
using namespace encore::testing;
using namespace std::chrono_literals;

namespace {

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Wrong : std::logic_error {
  using std::logic_error::logic_error;
};

/// What happened in one call: its events, its waits, and how it ended.
struct Story {
  std::vector<EventRecord> events;
  Durations waits;
  std::string end;
};

/// Plays one letter an attempt: (r)eturns, returns (n)egative, (s)low, (w)rong, throws an (i)nt.
int play(const std::string& script, std::size_t& next) {
  switch (script.at(next++)) {
    case 's': throw Slow{"slow"};
    case 'w': throw Wrong{"wrong"};
    case 'i': throw 17;
    case 'n': return -1;
    default: return 1;
  }
}

template <bool WithAttempt, class Policy>
Story story(const Policy& policy, FakeClock& clock, Recorder& trace, const Call& call,
            const std::string& script) {
  std::size_t next = 0;
  Story told;
  try {
    const auto result = [&] {
      if constexpr (WithAttempt)
        return policy.run(call, [&](const Attempt& attempt) {
          attempt.note_status(200 + attempt.ordinal);
          return play(script, next);
        });
      else
        return policy.run(call, [&] { return play(script, next); });
    }();
    told.end = "returned " + std::to_string(result);
  } catch (const std::exception& error) {
    told.end = error.what();
  } catch (int number) {
    told.end = std::to_string(number);
  }
  told.events = trace.events();
  for (auto& event : told.events)
    event.remaining.reset();  // a deadline far away is told, and nothing else differs
  told.waits = clock.sleeps();
  return told;
}

/// The same script on the straight way, and on the general one: which a deadline far away makes the call take.
template <bool WithAttempt, class... Option>
void goes_both_ways(const std::string& script, const Option&... options) {
  INFO("script " << script << (WithAttempt ? ", with the attempt" : ""));
  const auto tell = [&](const Call& call) {
    FakeClock clock;
    Recorder trace;
    const RetryPolicy policy{clock, trace, MaxRetries{2}, Seed{3}, options...};
    return story<WithAttempt>(policy, clock, trace, call, script);
  };
  const auto straight = tell({.id = "call-1", .name = "tool"});
  const auto general = tell({.id = "call-1", .name = "tool", .deadline = TimePoint{Duration{24h}}});
  CHECK(straight.end == general.end);
  CHECK(straight.waits == general.waits);
  CHECK(straight.events == general.events);
}

}  // namespace

TEST_CASE("the fast path reports, waits and ends as the general path does [A2 A4 B3 F1 G1]", "[retry_loop]") {
  const std::string letters{"rnswi"};
  for (const auto first : letters)
    for (const auto second : letters)
      for (const auto third : letters) {
        const std::string script{first, second, third};
        goes_both_ways<false>(script, RetryOn<Slow>{});
        goes_both_ways<true>(script, RetryOn<Slow>{});
        goes_both_ways<false>(script, RetryOn<Slow, int>{} || RetryIfResult{[](int x) { return x < 0; }});
        goes_both_ways<true>(script, RetryOnEveryException{}, NeverRetry<Wrong>{});
        goes_both_ways<false>(script, RetryIfResult{[](int x) { return x < 0; }}, TimeBudget{1h});
      }
}

namespace {

struct Throttled : Slow {
  using Slow::Slow;
  Duration retry_after() const { return 2s; }
};

/// Plays one letter an attempt, each of which takes 300 ms: (r)eturns, returns (n)egative, throws an (i)nt, (s)low, (t)hrottled
/// for 2 s. After slow (o)nes and negative (m)ore ones the clock goes on by a minute before the wait is over, and (b)ack by one.
int play_in_time(FakeClock& clock, const std::string& script, std::size_t& next) {
  const auto text = "attempt " + std::to_string(next + 1);
  const auto letter = script.at(next++);
  const auto set_in_the_wait = [&](Duration by) {
    clock.after(100ms, [&clock, by] { clock.set(clock.now() + by); });
  };
  clock.advance(300ms);
  switch (letter) {
    case 'r': return 1;
    case 'n': return -1;
    case 'm': return set_in_the_wait(1min), -1;
    case 'i': throw static_cast<int>(next);
    case 't': throw Throttled{text};
    case 'o': set_in_the_wait(1min); break;
    case 'b': set_in_the_wait(-1min); break;
    default: break;
  }
  throw Slow{text};
}

/// How a call ended of which nobody hears, and when.
struct Ending {
  std::string end;
  Durations waits;
  TimePoint when;
};

template <class... Option>
void ends_both_ways(const std::string& script, const Option&... options) {
  INFO("script " << script);
  const auto ending = [&](const Call& call) {
    FakeClock clock;
    const RetryPolicy policy{clock, NoJitter{}, options...};
    std::size_t next = 0;
    std::string end;
    try {
      end = "returned " + std::to_string(policy.run(call, [&] { return play_in_time(clock, script, next); }));
    } catch (const std::exception& error) {
      end = error.what();
    } catch (int number) {
      end = "threw " + std::to_string(number);
    }
    return Ending{end + " after " + std::to_string(next), clock.sleeps(), clock.now()};
  };
  const auto straight = ending({.id = "call-1", .name = "tool"});
  const auto general = ending({.id = "call-1", .name = "tool", .deadline = TimePoint{Duration{24h}}});
  CHECK(straight.end == general.end);
  CHECK(straight.waits == general.waits);
  CHECK(straight.when == general.when);
}

}  // namespace

TEST_CASE(
    "with time limits and without observers the fast path ends as the general path does [D2 D3 D4 D5 D7 E2 "
    "G1]",
    "[retry_loop]") {
  const RetryIfResult if_negative{[](int x) { return x < 0; }};
  const std::string letters{"rnmistob"};
  for (const auto first : letters)
    for (const auto second : letters)
      for (const auto third : letters) {
        const std::string script{first, second, third, 's', 'r'};
        // The first wait is 1 s, so that a second attempt begins at 1.3 s: then nothing is left of the third of these.
        for (const Duration budget : {0ms, 1200ms, 1300ms, 1301ms, 2300ms, 3600ms, 59000ms, 99000ms}) {
          INFO("budget " << budget.count() << " ns");
          ends_both_ways(script, RetryOn<Slow>{}, TimeBudget{budget});
          ends_both_ways(script, RetryOn<Slow, int>{}, TimeBudget{budget}, MaxRetries{2});
          ends_both_ways(script, RetryOn<Slow>{}, TimeBudget{budget}, MinAttemptTime{1s});
          ends_both_ways(script, RetryOn<Slow, int>{} || if_negative, TimeBudget{budget}, MaxRetries{2});
          ends_both_ways(script, if_negative, TimeBudget{budget}, MinAttemptTime{1s});
        }
        ends_both_ways(script, RetryOn<Slow>{}, OptionalTimeBudget{});
        ends_both_ways(script, RetryOn<Slow>{}, TimeBudget{1h}, HintCap{1s});
      }
}

TEST_CASE("a call within a time budget reads the clock only as often as necessary [P5]", "[retry_loop]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Slow>{}, TimeBudget{1h}, NoJitter{}, clock};
  std::size_t next = 0;
  const auto play_script = [&](const std::string& script) {
    next = 0;
    const auto before = clock.readings();
    policy.run([&] { return play(script, next); });
    return clock.readings() - before;
  };
  CHECK(play_script("r") == 1);
  CHECK(play_script("sr") == 3);  // and when it is decided, and after the wait
  CHECK(play_script("ssr") == 5);

  const auto without = policy.with(OptionalTimeBudget{});
  const auto before = clock.readings();
  next = 0;
  without.run([&] { return play("sr", next); });
  CHECK(clock.readings() == before);
}

TEST_CASE("an exception from a sleep propagates, and the stored exception is released [G1]", "[retry_loop]") {
  FakeClock clock;
  const RetryPolicy policy{RetryOn<Slow>{}, TimeBudget{1h}, NoJitter{}, clock};
  clock.after(500ms, [] { throw Wrong{"out of the sleep"}; });
  std::size_t next = 0;
  CHECK_THROWS_AS(policy.run([&] { return play("sr", next); }), Wrong);
  CHECK(next == 1);
}

// Its exceptions say whether one of them is still kept somewhere.
struct Counted : Slow {
  explicit Counted(const std::shared_ptr<int>& count) : Slow{"slow"}, kept{count} {}
  std::shared_ptr<int> kept;
};
struct BreakingClock : FakeClock {
  mutable int readings_left = 0;
  TimePoint now() const { return readings_left-- != 0 ? FakeClock::now() : throw Wrong{"the clock broke"}; }
};

TEST_CASE("whichever clock reading throws, the call stores no exception [F1 H1]", "[retry_loop]") {
  auto broken = 0;
  for (int reading = 0; reading < 6; ++reading) {
    BreakingClock clock;
    const auto count = std::make_shared<int>();
    const auto run = [&](const auto& policy) {
      clock.readings_left = reading;
      try {
        static_cast<void>(policy.run([&]() -> int { throw Counted{count}; }));
      } catch (const Wrong&) {
        ++broken;
      } catch (const Slow&) {}
      CHECK(count.use_count() == 1);
    };
    const RetryPolicy policy{RetryOn<Slow>{}, clock, TimeBudget{1h}, MaxRetries{1}};
    run(policy);
    run(policy.with(ReturnOutcome{}));
    run(policy.with(FormatFailure{[](const Failure&) { return 0; }}));
  }
  CHECK(broken == 3 + 4 + 4);
}

TEST_CASE("with one listed type and no observer, everything else propagates untouched [B2 B3]",
          "[retry_loop]") {
  const RetryPolicy policy{RetryOn<Slow>{}, ConstantBackoff{Duration::zero()}};
  auto attempts = 0;
  const auto throws = [&](auto error) {
    attempts = 0;
    policy.run([&] {
      ++attempts;
      throw error;
    });
  };
  CHECK_THROWS_AS(throws(Wrong{"wrong"}), Wrong);
  CHECK(attempts == 1);
  CHECK_THROWS_AS(throws(5), int);
  CHECK(attempts == 1);
  struct Slower : Slow {
    using Slow::Slow;
  };
  CHECK_THROWS_AS(throws(Slower{"slower"}), Slower);
  CHECK(attempts == 3);
}

TEST_CASE("a run's scope is in every event, however its call ends [I2]", "[retry_loop]") {
  const Scope of_run{1, 2};
  FakeClock clock;
  std::vector<Scope> seen;
  const RetryPolicy policy{RetryOn<Slow>{}, clock,
                           [&](const Event& event) { seen.push_back(event.scope()); }};
  auto left = 1;
  policy.run({.id = "call-1", .scope = &of_run}, [&] {
    if (left-- > 0) throw Slow{"slow"};
  });
  CHECK(seen == std::vector<Scope>(5, of_run));
}

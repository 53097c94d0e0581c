#include "../../guard/asking.hpp"
#include <encore/clock.hpp>
#include <encore/detail/random.hpp>
#include <encore/guard/circuit.hpp>
#include <encore/guard/circuit_breaker.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using encore::CircuitBreaker, encore::CircuitState, encore::detail::Circuit;
using guard_test::Asking;

namespace {

constexpr auto immediately = 0s;

constexpr encore::TimePoint at(encore::Duration since_the_begin) {
  return encore::TimePoint{since_the_begin};
}

constexpr Circuit three_failures_then_30s() { return Circuit{{.failures_to_open = 3, .open_for = 30s}}; }

// Opened at second 0 by one failure: half open from second 30 on.
constexpr Circuit opened(encore::CircuitBreakerOptions options = {.failures_to_open = 1, .open_for = 30s}) {
  Circuit circuit{options};
  circuit.failed(*circuit.admit(at(0s), immediately), at(0s));
  return circuit;
}

// The state after a script of results, one each second: 'f' fails, 's' succeeds.
constexpr CircuitState state_after(const char* script) {
  auto circuit = three_failures_then_30s();
  auto time = at(0s);
  for (; *script != '\0'; ++script, time += 1s) {
    const auto ticket = circuit.admit(time, immediately);
    if (!ticket) continue;
    *script == 's' ? circuit.succeeded(*ticket) : circuit.failed(*ticket, time);
  }
  return circuit.state(time);
}
static_assert(state_after("") == CircuitState::closed);
static_assert(state_after("ff") == CircuitState::closed);
static_assert(state_after("fff") == CircuitState::open);
static_assert(state_after("ffsff") == CircuitState::closed, "only failures in a row count");
static_assert(state_after("ffsfff") == CircuitState::open);

static_assert(to_string(CircuitState::closed) == "closed" && to_string(CircuitState::open) == "open" &&
              to_string(CircuitState::half_open) == "half_open");

TEST_CASE("a circuit opens at the Nth failure in a row, and admits no attempt for the set time [H3]",
          "[circuit]") {
  auto circuit = three_failures_then_30s();
  for (int i = 0; i < 3; ++i) {
    const auto ticket = circuit.admit(at(5s), immediately);
    REQUIRE(ticket);
    CHECK(!ticket->probe);
    circuit.failed(*ticket, at(7s));
  }
  CHECK(circuit.state(at(7s)) == CircuitState::open);
  CHECK(!circuit.admit(at(7s), immediately));
  CHECK(circuit.state(at(37s) - 1ns) == CircuitState::open);
  CHECK(!circuit.admit(at(37s) - 1ns, immediately));
  CHECK(circuit.state(at(37s)) == CircuitState::half_open);
  CHECK(circuit.admit(at(37s), immediately));
}

TEST_CASE("an open circuit says how long it stays open, and no other does [H3]", "[circuit]") {
  constexpr auto circuit = opened();
  STATIC_CHECK(circuit.open_for(at(0s)) == 30s);
  STATIC_CHECK(circuit.open_for(at(29s)) == 1s);
  STATIC_CHECK(circuit.open_for(at(30s)) == std::nullopt);  // half open: whoever comes first may probe
  STATIC_CHECK(three_failures_then_30s().open_for(at(0s)) == std::nullopt);
  auto forced = opened();
  forced.force_open();
  CHECK(forced.open_for(at(0s)) == std::nullopt);  // until somebody closes it
}

TEST_CASE("a half-open circuit admits exactly one probe at a time [H3]", "[circuit]") {
  auto circuit = opened();
  const auto probe = circuit.admit(at(30s), immediately);
  REQUIRE(probe);
  CHECK(probe->probe);
  for (int second = 30; second < 60; ++second)
    CHECK(!circuit.admit(at(std::chrono::seconds{second}), immediately));
  CHECK(circuit.state(at(59s)) == CircuitState::half_open);
}

TEST_CASE("a circuit probe's success closes the circuit, and the failures are forgotten [H3]", "[circuit]") {
  Circuit circuit{{.failures_to_open = 2, .open_for = 30s}};
  for (int i = 0; i < 2; ++i) circuit.failed(*circuit.admit(at(0s), immediately), at(0s));
  circuit.succeeded(*circuit.admit(at(30s), immediately));
  CHECK(circuit.state(at(30s)) == CircuitState::closed);
  const auto next = circuit.admit(at(30s), immediately);
  REQUIRE(next);
  CHECK(!next->probe);
  circuit.failed(*next, at(30s));
  CHECK(circuit.state(at(30s)) == CircuitState::closed);
}

TEST_CASE("a circuit probe's failure reopens the circuit at once, for the whole time [H3]", "[circuit]") {
  Circuit circuit{{.failures_to_open = 3, .open_for = 30s}};
  for (int i = 0; i < 3; ++i) circuit.failed(*circuit.admit(at(0s), immediately), at(0s));
  circuit.failed(*circuit.admit(at(30s), immediately), at(40s));
  CHECK(circuit.state(at(69s)) == CircuitState::open);
  CHECK(!circuit.admit(at(70s) - 1ns, immediately));
  CHECK(circuit.admit(at(70s), immediately));
}

TEST_CASE("a circuit probe that failed leaves no lease [H3]", "[circuit]") {
  auto circuit = opened({.failures_to_open = 1, .open_for = 10s, .probe_lease = 1h});
  circuit.failed(*circuit.admit(at(10s), immediately), at(10s));
  CHECK(circuit.admit(at(20s), immediately));
}

TEST_CASE("a circuit ignores results from an earlier state [H3]", "[circuit]") {
  Circuit circuit{{.failures_to_open = 1, .open_for = 30s}};
  const auto slow = *circuit.admit(at(0s), immediately);
  const auto slower = *circuit.admit(at(0s), immediately);
  circuit.failed(*circuit.admit(at(0s), immediately), at(0s));

  SECTION("while it is open") {
    circuit.succeeded(slow);
    CHECK(circuit.state(at(1s)) == CircuitState::open);
    circuit.failed(slower, at(20s));
    CHECK(circuit.admit(at(30s), immediately));  // not opened anew at second 20
  }
  SECTION("while a probe runs") {
    const auto probe = *circuit.admit(at(30s), immediately);
    circuit.succeeded(slow);
    CHECK(circuit.state(at(31s)) == CircuitState::half_open);
    circuit.failed(slower, at(31s));
    CHECK(circuit.state(at(31s)) == CircuitState::half_open);
    circuit.succeeded(probe);
    CHECK(circuit.state(at(31s)) == CircuitState::closed);
  }
  SECTION("after it has closed again") {
    circuit.succeeded(*circuit.admit(at(30s), immediately));
    circuit.failed(slow, at(31s));
    CHECK(circuit.state(at(31s)) == CircuitState::closed);
  }
}

TEST_CASE("a circuit probe that is withdrawn lets the next one start at once [H1, H3]", "[circuit]") {
  auto circuit = opened();
  const auto probe = *circuit.admit(at(30s), immediately);
  circuit.withdrawn(probe);
  CHECK(circuit.state(at(30s)) == CircuitState::half_open);
  const auto next = circuit.admit(at(30s), immediately);
  REQUIRE(next);
  CHECK(next->probe);

  circuit.withdrawn(probe);  // a late one does not take the next one's place away
  CHECK(!circuit.admit(at(30s), immediately));
}

TEST_CASE("a circuit probe's lease runs from its begin, and after it another probe may start [H3]",
          "[circuit]") {
  auto circuit = opened({.failures_to_open = 1, .open_for = 30s, .probe_lease = 10s});
  const auto probe = *circuit.admit(at(30s), immediately);
  circuit.began(probe, at(33s));
  CHECK(!circuit.admit(at(43s) - 1ns, immediately));
  const auto next = circuit.admit(at(43s), immediately);
  REQUIRE(next);
  CHECK(next->probe);

  circuit.succeeded(probe);  // late
  CHECK(circuit.state(at(44s)) == CircuitState::half_open);
  circuit.failed(probe, at(44s));
  CHECK(circuit.state(at(44s)) == CircuitState::half_open);
  circuit.began(probe, at(50s));
  CHECK(circuit.admit(at(53s), immediately));  // the lease of `next` was not lengthened by another's begin
}

TEST_CASE("a circuit probe whose lease has ended still counts until another takes its place [H3]",
          "[circuit]") {
  auto circuit = opened({.failures_to_open = 1, .open_for = 30s, .probe_lease = 10s});
  const auto probe = *circuit.admit(at(30s), immediately);
  circuit.succeeded(probe);
  CHECK(circuit.state(at(99s)) == CircuitState::closed);
}

TEST_CASE("a circuit's lease is as long as its open time, unless it is set [H3]", "[circuit]") {
  auto circuit = opened({.failures_to_open = 1, .open_for = 7s});
  REQUIRE(circuit.admit(at(7s), immediately));
  CHECK(!circuit.admit(at(14s) - 1ns, immediately));
  CHECK(circuit.admit(at(14s), immediately));
}

TEST_CASE("a circuit asked before a sleep answers for the time after it [H2]", "[circuit]") {
  auto circuit = opened();
  CHECK(!circuit.admit(at(10s), 20s - 1ns));
  const auto later = circuit.admit(at(10s), 20s);
  REQUIRE(later);
  CHECK(later->probe);
}

TEST_CASE(
    "a waiting circuit probe gives way to an attempt that begins sooner, but never before the open time is "
    "over [H2, H3]",
    "[circuit]") {
  auto circuit = opened();
  const auto waiting = *circuit.admit(at(10s), 50s);  // will begin at second 60
  CHECK(circuit.state(at(29s)) == CircuitState::open);
  CHECK(!circuit.admit(at(29s), immediately));
  CHECK(!circuit.admit(at(10s), 50s));  // no sooner
  CHECK(!circuit.admit(at(10s), 55s));

  const auto sooner = circuit.admit(at(30s), immediately);
  REQUIRE(sooner);
  CHECK(!circuit.admit(at(31s), immediately));

  SECTION("which is refused when its wait ends if that one is still out") {
    circuit.began(*sooner, at(45s));
    CHECK(!circuit.admit_again(waiting, at(60s)));
  }
  SECTION("and admitted when its wait ends, as an ordinary attempt, if that one has closed the circuit") {
    circuit.succeeded(*sooner);
    const auto woken = circuit.admit_again(waiting, at(60s));
    REQUIRE(woken);
    CHECK(!woken->probe);
    circuit.failed(*woken, at(60s));  // and its result counts
    CHECK(circuit.state(at(60s)) == CircuitState::open);
  }
}

TEST_CASE("a running circuit probe does not give way, however late the other attempt would begin [H3]",
          "[circuit]") {
  auto circuit = opened();
  const auto probe = *circuit.admit(at(30s), immediately);
  CHECK(!circuit.admit(at(31s), 40s));  // after the probe's lease, which may be over long before
  CHECK(!circuit.admit(at(31s), immediately));
  circuit.succeeded(probe);
  CHECK(circuit.state(at(31s)) == CircuitState::closed);
}

TEST_CASE("after its wait a circuit probe gives way to no attempt [H3]", "[circuit]") {
  auto circuit = opened();
  const auto waiting = *circuit.admit(at(10s), 50s);
  const auto woken = circuit.admit_again(waiting, at(58s));  // woken early
  REQUIRE(woken);
  CHECK(woken->probe);
  CHECK(!circuit.admit(at(59s), immediately));
  CHECK(!circuit.admit(at(88s) - 1ns, immediately));
  CHECK(circuit.admit(at(88s), immediately));
}

TEST_CASE("a circuit that opened while an attempt waited refuses it when the wait ends [H2]", "[circuit]") {
  Circuit circuit{{.failures_to_open = 1, .open_for = 30s}};
  const auto waiting = *circuit.admit(at(0s), 10s);
  const auto long_waiting = *circuit.admit(at(0s), 30s);
  circuit.failed(*circuit.admit(at(0s), immediately), at(0s));
  CHECK(!circuit.admit_again(waiting, at(10s)));
  const auto woken = circuit.admit_again(long_waiting, at(30s));
  REQUIRE(woken);
  CHECK(woken->probe);  // it is the one that tries
  CHECK(!circuit.admit(at(30s), immediately));
}

TEST_CASE("a circuit counts failures that are not worth a retry only on request [H3]", "[circuit]") {
  const Circuit usual{{}};
  CHECK(usual.counts(true));
  CHECK(!usual.counts(false));
  const Circuit strict{{.count_permanent_failures = true}};
  CHECK(strict.counts(true));
  CHECK(strict.counts(false));
}

TEST_CASE("a circuit that is forced open stays open until it is reset [H3]", "[circuit]") {
  Circuit circuit{{.failures_to_open = 1}};
  const auto under_way = *circuit.admit(at(0s), immediately);
  circuit.force_open();
  circuit.succeeded(under_way);
  CHECK(circuit.state(encore::TimePoint::max() - 1ns) == CircuitState::open);
  CHECK(!circuit.admit(at(100'000h), immediately));
  CHECK(!circuit.admit(at(-5s), immediately));
  CHECK(circuit.state(at(1'000'000h)) == CircuitState::open);
  circuit.reset();
  CHECK(circuit.state(at(0s)) == CircuitState::closed);
  circuit.failed(under_way, at(0s));
  CHECK(circuit.state(at(0s)) == CircuitState::closed);
  CHECK(circuit.admit(at(0s), immediately));
}

TEST_CASE("a reset circuit ignores the results of attempts under way, even if it was closed [H3]",
          "[circuit]") {
  Circuit circuit{{.failures_to_open = 1}};
  const auto under_way = *circuit.admit(at(0s), immediately);
  circuit.reset();
  circuit.failed(under_way, at(0s));
  CHECK(circuit.state(at(0s)) == CircuitState::closed);
}

TEST_CASE("a clock that is set back makes no circuit stay open longer than the set time [D7]", "[circuit]") {
  auto circuit = opened({.failures_to_open = 1, .open_for = 30s, .probe_lease = 10s});
  CHECK(!circuit.admit(at(-1h), immediately));
  CHECK(!circuit.admit(at(-1h + 30s) - 1ns, immediately));
  const auto probe = circuit.admit(at(-1h + 30s), immediately);
  REQUIRE(probe);

  CHECK(circuit.state(at(-2h)) == CircuitState::half_open);
  CHECK(!circuit.admit(at(-2h), immediately));
  CHECK(!circuit.admit(at(-2h + 10s) - 1ns, immediately));
  CHECK(circuit.admit(at(-2h + 10s), immediately));
}

TEST_CASE("a circuit's longest times do not overflow [C7]", "[circuit]") {
  auto circuit = opened({.failures_to_open = 1, .open_for = std::chrono::hours::max()});
  CHECK(!circuit.admit(at(1'000'000h), encore::max_wait));
  CHECK(circuit.state(at(1'000'000h)) == CircuitState::open);
}

TEST_CASE("circuit settings that cannot work are invalid by name [C3]", "[circuit]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  CHECK_THROWS_MATCHES((Circuit{{.failures_to_open = 0}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("failures_to_open")));
  CHECK_THROWS_MATCHES((Circuit{{.open_for = -1s}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("open_for")));
  CHECK_THROWS_MATCHES((Circuit{{.open_for = 0s}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("probe_lease")));
  CHECK_THROWS_MATCHES((Circuit{{.probe_lease = 0s}}), std::invalid_argument,
                       MessageMatches(ContainsSubstring("probe_lease")));
  CHECK_NOTHROW(Circuit{{.open_for = 0s, .probe_lease = 1s}});
}

// ---- random histories ------------------------------------------------------------------------------------------------

/// Attempts that wait, run, succeed, fail, are withdrawn, return late or never, and what must hold whenever one begins.
class History {
 public:
  History(std::uint64_t seed, int failures_to_open)
      : random_{seed},
        circuit_{{.failures_to_open = failures_to_open, .open_for = open_for, .probe_lease = lease}} {}

  void step() {
    now_ += random_.draw() < 0.5 ? encore::Duration{} : std::chrono::seconds{below(4)};
    if (nobody_may_hold_the_probe()) {
      auto copy = circuit_;
      CHECK(copy.admit(now_, immediately));
    }
    wake();
    if (random_.draw() < 0.5) ask();
    if (!generator_.empty() && random_.draw() < 0.6) end_one();
    if (!waiting_.empty() && random_.draw() < 0.1) withdraw_one();
    if (!out_too_long_.empty() && random_.draw() < 0.05) return_late();
  }
  int probes() const { return probes_; }
  int refused_on_waking() const { return refused_on_waking_; }
  int lost() const { return lost_; }

 private:
  static constexpr auto open_for = 10s;
  static constexpr auto lease = 7s;
  struct Asked {
    Circuit::Ticket ticket;
    encore::TimePoint begins;  // or has begun
  };

  int below(int end) { return static_cast<int>(random_.draw() * end); }
  static Asked take(std::vector<Asked>& from, int i) {
    const auto taken = from[static_cast<std::size_t>(i)];
    from.erase(from.begin() + i);
    return taken;
  }
  void ask() {
    const encore::Duration ahead = random_.draw() < 0.5 ? 0s : std::chrono::seconds{1 + below(12)};
    const auto ticket = circuit_.admit(now_, ahead);
    if (!ticket) return;
    if (ahead > 0s)
      waiting_.push_back({*ticket, now_ + ahead});
    else
      begin(*ticket);
  }
  void wake() {
    for (int i = 0; i < static_cast<int>(waiting_.size());) {
      if (waiting_[static_cast<std::size_t>(i)].begins > now_) {
        ++i;
        continue;
      }
      const auto woken = take(waiting_, i);
      if (const auto ticket = circuit_.admit_again(woken.ticket, now_)) {
        begin(*ticket);
      } else {
        ++refused_on_waking_;
        circuit_.withdrawn(woken.ticket);
      }
    }
  }
  void begin(const Circuit::Ticket& ticket) {
    CHECK(circuit_.state(now_) == (ticket.probe ? CircuitState::half_open : CircuitState::closed));
    if (ticket.probe) {
      ++probes_;
      CHECK_FALSE(a_probe_runs());
    }
    circuit_.began(ticket, now_);
    generator_.push_back({ticket, now_});
  }
  void end_one() {
    const auto ended = take(generator_, below(static_cast<int>(generator_.size())));
    const auto draw = random_.draw();
    if (draw < 0.3)
      circuit_.succeeded(ended.ticket);
    else if (draw < 0.8)
      circuit_.failed(ended.ticket, now_);
    else if (draw < 0.9)
      circuit_.withdrawn(ended.ticket);
    else
      out_too_long_.push_back(ended), ++lost_;
  }
  void return_late() {
    const auto ended = take(out_too_long_, 0);
    random_.draw() < 0.5 ? circuit_.succeeded(ended.ticket) : circuit_.failed(ended.ticket, now_);
  }
  void withdraw_one() { circuit_.withdrawn(take(waiting_, below(static_cast<int>(waiting_.size()))).ticket); }
  bool a_probe_runs() const {
    const auto runs = [&](const Asked& one) { return one.ticket.probe && now_ < one.begins + lease; };
    return std::any_of(generator_.begin(), generator_.end(), runs) ||
           std::any_of(out_too_long_.begin(), out_too_long_.end(), runs);
  }
  bool nobody_may_hold_the_probe() const {
    return circuit_.state(now_) == CircuitState::half_open && waiting_.empty() && !a_probe_runs();
  }

  encore::shared::Random random_;
  Circuit circuit_;
  encore::TimePoint now_{};
  std::vector<Asked> waiting_;
  std::vector<Asked> generator_;
  std::vector<Asked> out_too_long_;
  int probes_ = 0;
  int refused_on_waking_ = 0;
  int lost_ = 0;
};

TEST_CASE(
    "over random histories no attempt begins while the circuit is open, no two probes overlap, and no "
    "probe's place is lost [H1, H2, H3]",
    "[circuit]") {
  int probes = 0;
  int refused_on_waking = 0;
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    History history{seed, 1 + static_cast<int>(seed % 3)};
    for (int i = 0; i < 500; ++i) history.step();
    probes += history.probes();
    refused_on_waking += history.refused_on_waking();
    lost += history.lost();
  }
  CHECK(probes > 500);
  CHECK(refused_on_waking > 100);
  CHECK(lost > 100);
}

TEST_CASE("a failing test shows a circuit state by its name", "[circuit]") {
  std::ostringstream out;
  out << encore::CircuitState::half_open;
  CHECK(out.str() == "half_open");
}

TEST_CASE("a circuit breaker decides as its circuit does, whatever it knows without a lock [H3]",
          "[circuit_breaker]") {
  struct Asked {
    CircuitBreaker::Permit permit;
    Circuit::Ticket ticket;
  };
  int admitted = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const encore::CircuitBreakerOptions options{
        .failures_to_open = 1 + static_cast<int>(seed % 3), .open_for = 10s, .probe_lease = 7s};
    CircuitBreaker breaker{options};
    Circuit circuit{options};
    Asking asking;
    encore::shared::Random random{seed};
    const auto happens = [&](double share) { return random.draw() < share; };
    std::vector<std::optional<Asked>> out(4);  // of attempts that are under way, or wait
    for (int step = 0; step < 500; ++step) {
      if (happens(0.5)) asking.clock.advance(std::chrono::seconds{static_cast<int>(random.draw() * 4)});
      const auto now = asking.now();
      auto& one = out[static_cast<std::size_t>(random.draw() * 4)];
      if (!one) {
        const encore::Duration ahead = happens(0.5) ? 0s : 5s;
        auto permit = breaker.admit(asking.retry(ahead));
        const auto ticket = circuit.admit(now, ahead);
        REQUIRE(permit.has_value() == ticket.has_value());
        ++(permit ? admitted : refused);
        if (permit) one.emplace(Asked{std::move(*permit), *ticket});
      } else if (happens(0.3)) {
        const auto still = circuit.admit_again(one->ticket, now);
        REQUIRE(one->permit.still_admitted(asking.now) == still.has_value());
        if (still) one->ticket = *still;
      } else if (happens(0.4)) {
        one->permit.began(asking.now);
        circuit.began(one->ticket, now);
      } else if (happens(0.4)) {
        one->permit.succeeded(asking.now);
        circuit.succeeded(one->ticket);
        one.reset();
      } else if (happens(0.8)) {
        const auto retryable = happens(0.8);
        one->permit.failed(asking.now, retryable);
        retryable ? circuit.failed(one->ticket, now) : circuit.withdrawn(one->ticket);
        one.reset();
      } else {
        circuit.withdrawn(one->ticket);
        one.reset();
      }
      if (happens(0.01)) breaker.reset(), circuit.reset();
      if (happens(0.005)) breaker.force_open(), circuit.force_open();
      REQUIRE(breaker.state(asking.now) == circuit.state(now));
    }
  }
  CHECK(admitted > 1'000);
  CHECK(refused > 1'000);
}

}  // namespace

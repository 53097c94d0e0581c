// Success on the first attempt: gates P1 to P5. What encore is compared with stands beside it, written by hand.
#include "measure.hpp"
#include "service.hpp"
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/retry_budget.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace benchmarks;

// ---- P1: the plain call ------------------------------------------------------------------------------------------------

constexpr int max_retries = 2;
const encore::RetryPolicy plain{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}};

[[gnu::noinline]] static int plain_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return answer(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static int plain_with_encore(int x) {
  return plain.run([&] { return answer(x); });
}
[[gnu::noinline]] static int named_with_encore(int x) {
  return plain.run({.id = "call-17", .name = "inventory_lookup"}, [&] { return answer(x); });
}

const encore::RetryPolicy two_types{encore::RetryOn<TimeoutError, ConnectionError>{}, UnhurriedClock{}};
[[gnu::noinline]] static int two_types_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return answer(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    } catch (const ConnectionError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static int two_types_with_encore(int x) {
  return two_types.run([&] { return answer(x); });
}

[[gnu::noinline]] static int numbered_by_hand(int x) {
  for (int attempt = 1;; ++attempt) {
    try {
      return answer(x + attempt);
    } catch (const TimeoutError&) {
      if (attempt > max_retries) throw;
    }
  }
}
[[gnu::noinline]] static int numbered_with_encore(int x) {
  return plain.run([&](const encore::Attempt& attempt) { return answer(x + attempt.ordinal); });
}

[[gnu::noinline]] static void procedure_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return perform(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static void procedure_with_encore(int x) {
  return plain.run([&] { perform(x); });
}

[[gnu::noinline]] static const int& reference_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return reference(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static const int& reference_with_encore(int x) {
  return plain.run([&]() -> const int& { return reference(x); });
}

const encore::RetryPolicy on_values{encore::RetryIfResult{[](int value) { return value < 0; }},
                                    UnhurriedClock{}};
[[gnu::noinline]] static int value_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    const int value = answer(x);
    if (value >= 0 || retries == max_retries) return value;
  }
}
[[gnu::noinline]] static int value_with_encore(int x) {
  return on_values.run([&] { return answer(x); });
}

const encore::RetryPolicy within_time{encore::RetryOn<TimeoutError>{}, UnhurriedClock{},
                                      encore::MaxRetries{max_retries}, encore::TimeBudget{5s}};
[[gnu::noinline]] static int within_time_by_hand(int x) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  for (int retries = 0;; ++retries) {
    try {
      return answer(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries || std::chrono::steady_clock::now() >= deadline) throw;
    }
  }
}
[[gnu::noinline]] static int within_time_with_encore(int x) {
  return within_time.run([&] { return answer(x); });
}

// ---- P2: a body that cannot throw --------------------------------------------------------------------------------------

// With C names, so that their sizes can be looked up.
extern "C" {
[[gnu::noinline]] int inlined_by_hand(int x) noexcept { return x * 3 + 1; }
[[gnu::noinline]] int inlined_with_encore(int x) {
  return plain.run([&]() noexcept { return x * 3 + 1; });
}
}

// ---- P3: allocations ---------------------------------------------------------------------------------------------------

template <std::size_t Size>
[[gnu::noinline]] static int captured_by_hand(int x) {
  std::array<char, Size> captured{};
  captured[static_cast<std::size_t>(x) % Size] = static_cast<char>(x);
  const auto call = [captured, x] { return answer(captured[static_cast<std::size_t>(x) % Size] + x); };
  for (int retries = 0;; ++retries) {
    try {
      return call();
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
template <std::size_t Size>
[[gnu::noinline]] static int captured_with_encore(int x) {
  std::array<char, Size> captured{};
  captured[static_cast<std::size_t>(x) % Size] = static_cast<char>(x);
  return plain.run([captured, x] { return answer(captured[static_cast<std::size_t>(x) % Size] + x); });
}

[[gnu::noinline]] static std::string text_by_hand(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return text(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static std::string text_with_encore(int x) {
  return plain.run([&] { return text(x); });
}

// ---- P4: an observer ---------------------------------------------------------------------------------------------------

static std::int64_t observed = 0;
const auto with_observer = plain.with(encore::Observe{[](const encore::Event& event) noexcept {
  observed += event.ordinal + static_cast<std::int64_t>(event.call_id().size());
}});
// What an engineer who wants the same three facts writes into the loop.
[[gnu::noinline]] static int observed_with_encore(int x) {
  return with_observer.run({.id = "call-17", .name = "inventory_lookup"}, [&] { return answer(x); });
}

// ---- P5: clock reads ---------------------------------------------------------------------------------------------------

static long clock_reads = 0;
struct CountingClock {
  using role = encore::role::Clock;
  static encore::TimePoint now() noexcept {
    ++clock_reads;
    return encore::SteadyClock::now();
  }
  static encore::WallTime wall() noexcept {
    ++clock_reads;
    return encore::SteadyClock::wall();
  }
  static void sleep_for(encore::Duration wait, const encore::StopView&) { pass_time(wait); }
};

template <class Policy>
static void count_clock_reads(const char* path, int allowed, const Policy& policy) {
  const auto before = clock_reads;
  sink = policy.with(CountingClock{}).with(encore::ReturnOutcome{}).run([] { return answer(1); }).value_or(0);
  const auto with_outcome = clock_reads - before;
  sink = policy.with(CountingClock{}).run({.id = "call-17"}, [] { return answer(1); });
  std::printf("clock,%s,%d,%ld\n", path, allowed, clock_reads - before - with_outcome);
  if constexpr (std::is_same_v<Policy, std::remove_const_t<decltype(plain)>>)
    std::printf("clock,outcome,2,%ld\n", with_outcome);
}

int main() {
  measure("figure", "raw call", "hand", answer);
  measure("P1", "plain", "hand", plain_by_hand);
  measure("P1", "plain", "encore", plain_with_encore);
  measure("P1", "with an id and a name", "hand", plain_by_hand);
  measure("P1", "with an id and a name", "encore", named_with_encore);
  measure("P1", "two types", "hand", two_types_by_hand);
  measure("P1", "two types", "encore", two_types_with_encore);
  measure("figure", "takes its attempt", "hand", numbered_by_hand);
  measure("figure", "takes its attempt", "encore", numbered_with_encore);
  measure("P1", "returns nothing", "hand", [](int i) { return procedure_by_hand(i), 0; });
  measure("P1", "returns nothing", "encore", [](int i) { return procedure_with_encore(i), 0; });
  measure("P1", "returns a reference", "hand", [](int i) { return reference_by_hand(i); });
  measure("P1", "returns a reference", "encore", [](int i) { return reference_with_encore(i); });
  measure("P1", "failures are values", "hand", value_by_hand);
  measure("P1", "failures are values", "encore", value_with_encore);
  measure("P1", "time budget", "hand", within_time_by_hand);
  measure("P1", "time budget", "encore", within_time_with_encore);
  measure("P2", "cannot throw", "hand", inlined_by_hand);
  measure("P2", "cannot throw", "encore", inlined_with_encore);
  measure("P3", "captures 8 bytes", "hand", captured_by_hand<8>);
  measure("P3", "captures 8 bytes", "encore", captured_with_encore<8>);
  measure("P3", "captures 1000 bytes", "hand", captured_by_hand<1000>);
  measure("P3", "captures 1000 bytes", "encore", captured_with_encore<1000>);
  measure("P3", "returns a string", "hand", [](int i) { return text_by_hand(i).size(); });
  measure("P3", "returns a string", "encore", [](int i) { return text_with_encore(i).size(); });
  measure("P4", "observer", "hand", named_with_encore);
  measure("P4", "observer", "encore", observed_with_encore);
  sink = observed;

  std::printf("policy,one predicate,%zu\n", sizeof plain);

  encore::CircuitBreaker breaker;
  encore::RetryBudget budget;
  count_clock_reads("plain", 0, plain);
  count_clock_reads("observer", 0, with_observer);
  count_clock_reads("breaker and retry budget", 0, plain.with(breaker, budget));
  count_clock_reads("time budget", 1, within_time);
  count_clock_reads("observer that asks when", 1, plain.with(encore::Observe{[](const encore::Event& event) {
    if (event.begins_call()) sink = event.at().time_since_epoch().count();
  }}));
  count_clock_reads("observer that asks how long", 2,
                    plain.with(encore::Observe{[](const encore::Event& event) {
                      if (event.begins_call()) sink = event.at().time_since_epoch().count();
                      if (event.kind == encore::EventKind::call_finished) sink = event.elapsed()->count();
                    }}));
}

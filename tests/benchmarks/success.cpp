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
#include <string_view>

using namespace std::chrono_literals;
using namespace benchmarks;

// ---- P1: the plain call ------------------------------------------------------------------------------------------------

// Settings are known at run time only, to the loop as to the policy: as numbers from a configuration are.

[[gnu::noinline]] static int plain_by_hand(int x, int max_retries) {
  for (int retries = 0;; ++retries) {
    try {
      return answer(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static int plain_with_encore(int x, const auto& policy) {
  return policy.run([&] { return answer(x); });
}
[[gnu::noinline]] static int named_with_encore(int x, const auto& policy) {
  return policy.run({.id = "call-17", .name = "inventory_lookup"}, [&] { return answer(x); });
}

[[gnu::noinline]] static int two_types_by_hand(int x, int max_retries) {
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
[[gnu::noinline]] static int two_types_with_encore(int x, const auto& policy) {
  return policy.run([&] { return answer(x); });
}

[[gnu::noinline]] static int numbered_by_hand(int x, int max_retries) {
  for (int attempt = 1;; ++attempt) {
    try {
      return answer(x + attempt);
    } catch (const TimeoutError&) {
      if (attempt > max_retries) throw;
    }
  }
}
[[gnu::noinline]] static int numbered_with_encore(int x, const auto& policy) {
  return policy.run([&](const encore::Attempt& attempt) { return answer(x + attempt.ordinal); });
}

[[gnu::noinline]] static void procedure_by_hand(int x, int max_retries) {
  for (int retries = 0;; ++retries) {
    try {
      return perform(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static void procedure_with_encore(int x, const auto& policy) {
  return policy.run([&] { perform(x); });
}

[[gnu::noinline]] static const int& reference_by_hand(int x, int max_retries) {
  for (int retries = 0;; ++retries) {
    try {
      return reference(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static const int& reference_with_encore(int x, const auto& policy) {
  return policy.run([&]() -> const int& { return reference(x); });
}

[[gnu::noinline]] static int value_by_hand(int x, int max_retries) {
  for (int retries = 0;; ++retries) {
    const int value = answer(x);
    if (value >= 0 || retries == max_retries) return value;
  }
}
[[gnu::noinline]] static int value_with_encore(int x, const auto& policy) {
  return policy.run([&] { return answer(x); });
}

[[gnu::noinline]] static int within_time_by_hand(int x, int max_retries) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  for (int retries = 0;; ++retries) {
    try {
      return answer(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries || std::chrono::steady_clock::now() >= deadline) throw;
    }
  }
}
[[gnu::noinline]] static int within_time_with_encore(int x, const auto& policy) {
  return policy.run([&] { return answer(x); });
}

// ---- P2: a body that cannot throw --------------------------------------------------------------------------------------

const encore::RetryPolicy constant{encore::RetryOn<TimeoutError>{}};

// With C names, so that their sizes can be looked up.
extern "C" {
[[gnu::noinline]] int inlined_by_hand(int x) noexcept { return x * 3 + 1; }
[[gnu::noinline]] int inlined_with_encore(int x) {
  return constant.run([&]() noexcept { return x * 3 + 1; });
}
}

// ---- P3: allocations ---------------------------------------------------------------------------------------------------

template <std::size_t Size>
[[gnu::noinline]] static int captured_by_hand(int x, int max_retries) {
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
[[gnu::noinline]] static int captured_with_encore(int x, const auto& policy) {
  std::array<char, Size> captured{};
  captured[static_cast<std::size_t>(x) % Size] = static_cast<char>(x);
  return policy.run([captured, x] { return answer(captured[static_cast<std::size_t>(x) % Size] + x); });
}

[[gnu::noinline]] static std::string text_by_hand(int x, int max_retries) {
  for (int retries = 0;; ++retries) {
    try {
      return text(x);
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
[[gnu::noinline]] static std::string text_with_encore(int x, const auto& policy) {
  return policy.run([&] { return text(x); });
}

// ---- P4: an observer ---------------------------------------------------------------------------------------------------

static std::int64_t observed = 0;

struct InlineObserver {
  [[gnu::always_inline]] void operator()(const encore::Event& event) const noexcept {
    observed += event.ordinal + static_cast<std::int64_t>(event.call_id().size());
  }
};

// Writes down the same three facts: the attempt begins, it worked, the call is over.
[[gnu::noinline]] static int observed_by_hand(int x, int max_retries) {
  constexpr std::string_view id = "call-17";
  for (int attempt = 1;; ++attempt) {
    observed += attempt + static_cast<std::int64_t>(id.size());
    try {
      const int result = answer(x);
      observed += attempt + static_cast<std::int64_t>(id.size());
      observed += attempt + static_cast<std::int64_t>(id.size());
      return result;
    } catch (const TimeoutError&) {
      observed += attempt + static_cast<std::int64_t>(id.size());
      if (attempt > max_retries) throw;
    }
  }
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
  clock_reads = 0;
  static_cast<void>(policy.with(CountingClock{}).run({.id = "call-17"}, [] { return answer(1); }));
  std::printf("clock,%s,%d,%ld\n", path, allowed, clock_reads);
}

int main(int argc, char**) {
  const int max_retries = argc + 1;
  const encore::RetryPolicy plain{encore::RetryOn<TimeoutError>{}, UnhurriedClock{},
                                  encore::MaxRetries{max_retries}};
  const encore::RetryPolicy two_types{encore::RetryOn<TimeoutError, ConnectionError>{}, UnhurriedClock{},
                                      encore::MaxRetries{max_retries}};
  const encore::RetryPolicy on_values{encore::RetryIfResult{[](int value) { return value < 0; }},
                                      UnhurriedClock{}, encore::MaxRetries{max_retries}};
  const auto within_time = plain.with(encore::TimeBudget{5s});
  const auto with_observer = plain.with(encore::Observe{InlineObserver{}});
  const auto with_lambda = plain.with(encore::Observe{[](const encore::Event& event) noexcept {
    observed += event.ordinal + static_cast<std::int64_t>(event.call_id().size());
  }});

  const auto compare = [&](const char* gate, const char* path, auto by_hand, auto with_encore,
                           const auto& policy) {
    measure(gate, path, "hand", [&](int i) { return by_hand(i, max_retries); });
    measure(gate, path, "encore", [&](int i) { return with_encore(i, policy); });
  };
  measure("figure", "raw call", "hand", answer);
  compare(
      "P1", "plain", [](int i, int n) { return plain_by_hand(i, n); },
      [](int i, const auto& p) { return plain_with_encore(i, p); }, plain);
  compare(
      "P1", "with an id and a name", [](int i, int n) { return plain_by_hand(i, n); },
      [](int i, const auto& p) { return named_with_encore(i, p); }, plain);
  compare(
      "P1", "two types", [](int i, int n) { return two_types_by_hand(i, n); },
      [](int i, const auto& p) { return two_types_with_encore(i, p); }, two_types);
  compare(
      "figure", "takes its attempt", [](int i, int n) { return numbered_by_hand(i, n); },
      [](int i, const auto& p) { return numbered_with_encore(i, p); }, plain);
  compare(
      "P1", "returns nothing", [](int i, int n) { return procedure_by_hand(i, n), 0; },
      [](int i, const auto& p) { return procedure_with_encore(i, p), 0; }, plain);
  compare(
      "P1", "returns a reference", [](int i, int n) { return reference_by_hand(i, n); },
      [](int i, const auto& p) { return reference_with_encore(i, p); }, plain);
  compare(
      "P1", "failures are values", [](int i, int n) { return value_by_hand(i, n); },
      [](int i, const auto& p) { return value_with_encore(i, p); }, on_values);
  compare(
      "P1", "time budget", [](int i, int n) { return within_time_by_hand(i, n); },
      [](int i, const auto& p) { return within_time_with_encore(i, p); }, within_time);
  compare(
      "P3", "captures 8 bytes", [](int i, int n) { return captured_by_hand<8>(i, n); },
      [](int i, const auto& p) { return captured_with_encore<8>(i, p); }, plain);
  compare(
      "P3", "captures 1000 bytes", [](int i, int n) { return captured_by_hand<1000>(i, n); },
      [](int i, const auto& p) { return captured_with_encore<1000>(i, p); }, plain);
  compare(
      "P3", "returns a string", [](int i, int n) { return text_by_hand(i, n).size(); },
      [](int i, const auto& p) { return text_with_encore(i, p).size(); }, plain);
  compare(
      "P4", "observer", [](int i, int n) { return observed_by_hand(i, n); },
      [](int i, const auto& p) { return named_with_encore(i, p); }, with_observer);
  compare(
      "figure", "observer that is a lambda", [](int i, int n) { return observed_by_hand(i, n); },
      [](int i, const auto& p) { return named_with_encore(i, p); }, with_lambda);
  measure("P2", "cannot throw", "hand", inlined_by_hand);
  measure("P2", "cannot throw", "encore", inlined_with_encore);
  sink = observed;

  std::printf("policy,one predicate,%zu\n", sizeof plain);

  encore::CircuitBreaker breaker;
  encore::RetryBudget budget;
  count_clock_reads("plain", 0, plain);
  count_clock_reads("outcome with its times", 2, plain.with(encore::ReturnOutcome{}));
  count_clock_reads("observer", 0, with_observer);
  count_clock_reads("breaker and retry budget", 1, plain.with(breaker, budget));
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

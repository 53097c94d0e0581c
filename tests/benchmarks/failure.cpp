// Attempts that fail: gates P6 to P8. What encore is compared with stands beside it, written by hand.
#include "measure.hpp"
#include "service.hpp"
#include <encore/encore.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

using namespace std::chrono_literals;
using namespace benchmarks;

const auto without_waits =
    encore::RetryPolicy{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}, encore::MaxRetries{max_retries},
                        encore::ConstantBackoff{0s}, encore::NoJitter{}};
const auto with_waits =
    encore::RetryPolicy{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}, encore::MaxRetries{max_retries}};
const auto within_time = with_waits.with(encore::TimeBudget{1h});

// Where the linker puts a function lengthens the unwinder's search for it by up to 200 instructions a throw, more than what is to
// be told apart here. So each loop stands in eight places, which are called in turn.
constexpr int places = 8;
template <int Place>
[[gnu::always_inline]] static inline void stand_here() {
  asm volatile("" : : "i"(Place));  // else equal functions would be made one
}
template <class Loop>
static auto in_turn(Loop) {
  return [](int call) {
    static constexpr auto all = []<int... Place>(std::integer_sequence<int, Place...>) {
      return std::array<int (*)(), places>{[] { return Loop{}.template operator()<Place>(); }...};
    }(std::make_integer_sequence<int, places>{});
    return all[static_cast<unsigned>(call) % places]();
  };
}

// What is thrown out of a call that is exhausted is caught here, in both ways alike.
template <class F>
static int caught(F call) {
  try {
    return call();
  } catch (const std::exception&) {
    return 0;
  }
}

// ---- P6: no waits ------------------------------------------------------------------------------------------------------

template <auto Request, int Place>
[[gnu::noinline]] static int retried_by_hand() {
  stand_here<Place>();
  for (int retries = 0;; ++retries) {
    try {
      return Request();
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
  }
}
template <auto Request, int Place>
[[gnu::noinline]] static int retried_with_encore() {
  stand_here<Place>();
  return without_waits.run([] { return Request(); });
}

// ---- P6: waits that grow, with jitter ------------------------------------------------------------------------------------

// Two words of state, as nobody keeps 5 kB for jitter who has measured it.
static double jitter(double least, double most) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>{least, most}(random);
}

template <auto Request, int Place>
[[gnu::noinline]] static int waited_by_hand() {
  stand_here<Place>();
  std::chrono::duration<double, std::nano> delay = 1s;
  for (int retries = 0;; ++retries) {
    try {
      return Request();
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
    }
    const auto wait = jitter(0.75, 1.25) * std::min<std::chrono::duration<double, std::nano>>(delay, 48s);
    pass_time(std::chrono::duration_cast<std::chrono::nanoseconds>(wait));
    delay *= 2.0;
  }
}
template <auto Request, int Place>
[[gnu::noinline]] static int waited_with_encore() {
  stand_here<Place>();
  return with_waits.run([] { return Request(); });
}

template <auto Request, int Place>
[[gnu::noinline]] static int limited_by_hand() {
  stand_here<Place>();
  const auto deadline = std::chrono::steady_clock::now() + 1h;
  std::chrono::duration<double, std::nano> delay = 1s;
  for (int retries = 0;; ++retries) {
    std::chrono::duration<double, std::nano> wait{};
    try {
      return Request();
    } catch (const TimeoutError&) {
      if (retries == max_retries) throw;
      wait = jitter(0.75, 1.25) * std::min<std::chrono::duration<double, std::nano>>(delay, 48s);
      if (std::chrono::steady_clock::now() + wait >= deadline) throw;
    }
    pass_time(std::chrono::duration_cast<std::chrono::nanoseconds>(wait));
    delay *= 2.0;
  }
}
template <auto Request, int Place>
[[gnu::noinline]] static int limited_with_encore() {
  stand_here<Place>();
  return within_time.run([] { return Request(); });
}

// ---- P7: one of three types, by its base; and of a type that is not retried -------------------------------------------

const auto on_many =
    encore::RetryPolicy{encore::RetryOn<QuotaError, ConnectionError, TransientError>{}, UnhurriedClock{},
                        encore::MaxRetries{max_retries}, encore::ConstantBackoff{0s}, encore::NoJitter{}};
const auto on_others = encore::RetryPolicy{encore::RetryOn<QuotaError, ConnectionError>{}, UnhurriedClock{}};

template <int Place>
[[gnu::noinline]] static int told_apart_by_hand() {
  stand_here<Place>();
  for (int retries = 0;; ++retries) {
    try {
      return answer_after_three_failures();
    } catch (const QuotaError&) {
      if (retries == max_retries) throw;
    } catch (const ConnectionError&) {
      if (retries == max_retries) throw;
    } catch (const TransientError&) {
      if (retries == max_retries) throw;
    }
  }
}
template <int Place>
[[gnu::noinline]] static int told_apart_with_encore() {
  stand_here<Place>();
  return on_many.run(answer_after_three_failures);
}

template <int Place>
[[gnu::noinline]] static int throw_and_catch() {
  stand_here<Place>();
  for (;;) {
    try {
      return answer_after_three_failures();
    } catch (const std::exception&) {}
  }
}

template <int Place>
[[gnu::noinline]] static int unmatched_by_hand() {
  stand_here<Place>();
  for (int retries = 0;; ++retries) {
    try {
      return always_too_slow();
    } catch (const QuotaError&) {
      if (retries == max_retries) throw;
    } catch (const ConnectionError&) {
      if (retries == max_retries) throw;
    }
  }
}
template <int Place>
[[gnu::noinline]] static int unmatched_with_encore() {
  stand_here<Place>();
  return on_others.run(always_too_slow);
}

// ---- P8: failures that are values --------------------------------------------------------------------------------------

const auto on_values =
    encore::RetryPolicy{encore::RetryIfResult{[](int value) { return value < 0; }}, UnhurriedClock{},
                        encore::MaxRetries{max_retries}, encore::ConstantBackoff{0s}, encore::NoJitter{}};
[[gnu::noinline]] static int values_by_hand() {
  for (int retries = 0;; ++retries) {
    const int value = value_after_three_failures();
    if (value >= 0 || retries == max_retries) return value;
  }
}
[[gnu::noinline]] static int values_with_encore() { return on_values.run(value_after_three_failures); }

int main() {
  constexpr auto flaky = answer_after_three_failures;
  constexpr auto broken = always_too_slow;
  measure("P6", "3 failures then success", "hand",
          in_turn([]<int Place> { return retried_by_hand<flaky, Place>(); }));
  measure("P6", "3 failures then success", "encore",
          in_turn([]<int Place> { return retried_with_encore<flaky, Place>(); }));
  measure("P6", "exhausted", "hand",
          in_turn([]<int Place> { return caught(retried_by_hand<broken, Place>); }));
  measure("P6", "exhausted", "encore",
          in_turn([]<int Place> { return caught(retried_with_encore<broken, Place>); }));
  measure("P6", "3 failures and jittered waits", "hand",
          in_turn([]<int Place> { return waited_by_hand<flaky, Place>(); }));
  measure("P6", "3 failures and jittered waits", "encore",
          in_turn([]<int Place> { return waited_with_encore<flaky, Place>(); }));
  measure("P6", "exhausted with jittered waits", "hand",
          in_turn([]<int Place> { return caught(waited_by_hand<broken, Place>); }));
  measure("P6", "exhausted with jittered waits", "encore",
          in_turn([]<int Place> { return caught(waited_with_encore<broken, Place>); }));
  measure("P6", "3 failures within a time budget", "hand",
          in_turn([]<int Place> { return limited_by_hand<flaky, Place>(); }));
  measure("P6", "3 failures within a time budget", "encore",
          in_turn([]<int Place> { return limited_with_encore<flaky, Place>(); }));
  measure("figure", "throw and catch", "hand", in_turn([]<int Place> { return throw_and_catch<Place>(); }));
  measure("P7", "by the base of three types", "hand",
          in_turn([]<int Place> { return told_apart_by_hand<Place>(); }));
  measure("P7", "by the base of three types", "encore",
          in_turn([]<int Place> { return told_apart_with_encore<Place>(); }));
  measure("figure", "not retried: of none of two types", "hand",
          in_turn([]<int Place> { return caught(unmatched_by_hand<Place>); }));
  measure("figure", "not retried: of none of two types", "encore",
          in_turn([]<int Place> { return caught(unmatched_with_encore<Place>); }));
  measure("P8", "3 failed values", "hand", [](int) { return values_by_hand(); });
  measure("P8", "3 failed values", "encore", [](int) { return values_with_encore(); });
}

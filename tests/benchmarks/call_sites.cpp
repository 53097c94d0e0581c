// As many call sites as SITES says, for the code that one of them adds: gate P12. Compiled with HAND or ENCORE.
#include "service.hpp"
#include <encore/retry_policy.hpp>

#include <utility>

namespace benchmarks {

#if defined(HAND)
template <int Site>
[[gnu::noinline]] int call_site(int x) {
  for (int retries = 0;; ++retries) {
    try {
      return answer(x + Site);
    } catch (const TimeoutError&) {
      if (retries == 2) throw;
    }
  }
}
#else
const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}};
template <int Site>
[[gnu::noinline]] int call_site(int x) {
  return policy.run([x] { return answer(x + Site); });
}
#endif

template <int... Site>
int all_call_sites(int x, std::integer_sequence<int, Site...>) {
  return (call_site<Site>(x) + ...);
}
int all_call_sites(int x) { return all_call_sites(x, std::make_integer_sequence<int, SITES>{}); }

}  // namespace benchmarks

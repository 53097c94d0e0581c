// What one call costs when there is more of something: calls, options, observers, tools. "hand" is the least of it.
#include "measure.hpp"
#include "service.hpp"
#include <encore/agent/tool_catalog.hpp>
#include <encore/encore.hpp>

#include <chrono>
#include <cstdint>
#include <string>

using namespace std::chrono_literals;
using namespace benchmarks;

[[gnu::noinline]] static int call(int x, const auto& policy) {
  return policy.run({.id = "call-17", .name = "inventory_lookup"}, [&] { return answer(x); });
}

static std::int64_t observed = 0;
template <int Number>
struct Observer {
  [[gnu::always_inline]] void operator()(const encore::Event& event) const noexcept {
    observed += event.ordinal + Number;
  }
};
template <int... Number>
static auto with_observers(const auto& policy) {
  return policy.with(encore::Observe{Observer<Number>{}}...);
}

static encore::ToolCatalog catalog_of(int tools) {
  encore::ToolCatalog catalog;
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}};
  for (int i = 0; i < tools; ++i)
    catalog.add("tool_" + std::to_string(i), encore::ReplaySafety::repeatable, policy,
                [](const encore::ToolCall&) { return std::string{"17"}; });
  return catalog;
}

int main() {
  const encore::RetryPolicy plain{encore::RetryOn<TimeoutError>{}, UnhurriedClock{}};
  const auto by_number = [&](int x) { return call(x, plain); };
  measure("growth", "400000 calls against 400", "hand", by_number);
  measure("growth", "400000 calls against 400", "encore", by_number, 400'000);

  const auto many = plain.with(encore::MaxRetries{7}, encore::ExponentialBackoff{.initial_delay = 7ms},
                               encore::FullJitter{}, encore::HintCap{9s}, encore::MinAttemptTime{1s},
                               encore::AlreadyRetries{2});
  measure("growth", "eight options against two", "hand", by_number);
  measure("growth", "eight options against two", "encore", [&](int x) { return call(x, many); });

  const auto one = with_observers<1>(plain);
  const auto two = with_observers<1, 2>(plain);
  const auto four = with_observers<1, 2, 3, 4>(plain);
  measure("figure", "one observer", "encore", [&](int x) { return call(x, one); });
  measure("figure", "two observers", "encore", [&](int x) { return call(x, two); });
  measure("figure", "four observers", "encore", [&](int x) { return call(x, four); });
  sink = observed;

  for (const int tools : {1, 10, 100, 1'000}) {
    const auto catalog = catalog_of(tools);
    const encore::ToolCall issued{.id = "call-17", .name = "tool_" + std::to_string(tools / 2)};
    measure("figure", "a catalog's call among " + std::to_string(tools), "encore",
            [&](int) { return catalog.handle(issued).content.size(); });
  }
}

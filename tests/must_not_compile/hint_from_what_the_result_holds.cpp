// EXPECT: this test does not apply to what the callable returns, which only holds the test's parameter
#include <encore/hint.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_policy.hpp>

#include <chrono>
#include <variant>

struct Busy {
  std::chrono::seconds wait{};
};
using Answer = std::variant<int, Busy>;

Answer test() {
#ifdef ENCORE_FIXED
  const encore::HintFrom source{[](const Answer& answer) {
    const auto* const busy = std::get_if<Busy>(&answer);
    return busy != nullptr ? busy->wait : std::chrono::seconds{};
  }};
#else
  const encore::HintFrom source{[](const Busy& busy) { return busy.wait; }};
#endif
  const encore::RetryPolicy policy{encore::RetryOnEveryException{}, source};
  return policy.run([] { return Answer{17}; });
}

// One program of units with and without exceptions or RTTI, linked in any order: each behaves as it was built, and what is one in a
// process is one for all of them. [L1, L3]
#include "mixed_units.hpp"

#include "check.hpp"

void write_a_line() { throw std::runtime_error{"disk full"}; }

namespace {

std::string id_made_here() {
  std::string id;
  const auto policy = quiet_policy().with([&](const encore::Event& event) { id = event.call_id(); });
  static_cast<void>(policy.run([] { return 1; }));
  return id;
}

}  // namespace

int main() {
  auto attempts = 0;
  const auto fails_once = [&] { return ++attempts < 2 ? throw std::range_error{"slow"} : 7; };
  const auto outcome = quiet_policy().run(fails_once);
  check(outcome && *outcome == 7 && attempts == 2);

  const auto logged = logging_policy().run([] { return 7; });
  check(logged && *logged == 7 && logged.observer_errors() == 1);

  volatile auto from_a_file = -1;
  auto refused = false;
  try {
    const encore::RetryPolicy policy{encore::RetryOnEveryException{}, encore::MaxRetries{int{from_a_file}}};
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused);

  check(attempts_without_exceptions(1) == 1 && attempts_without_exceptions(-1) == 2);
  check(attempts_without_rtti() == 2);
  check(scope_without_exceptions() == encore::Scope::process().text());
  check(id_made_without_exceptions() != id_made_here());

  // The attempt around a call is seen by a unit of another kind.
  auto inside = 0;
  static_cast<void>(quiet_policy().run([&] { return inside = attempts_without_exceptions(-1); }));
  check(inside == 1);
  return failed_checks;
}

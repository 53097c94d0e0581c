// Built without exceptions and without RTTI, as L3 allows.
#include "mixed_units.hpp"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this unit must be built without exceptions and without RTTI"
#endif

int attempts_without_exceptions(int first) {
  auto next = first;
  return quiet_policy()
      .run([&] {
        const auto value = next;
        next = 1;
        return value;
      })
      .attempts();
}
std::string id_made_without_exceptions() {
  std::string id;
  const auto policy = quiet_policy().with([&](const encore::Event& event) { id = event.call_id(); });
  static_cast<void>(policy.run([] { return 1; }));
  return id;
}
std::string scope_without_exceptions() { return encore::Scope::process().text(); }

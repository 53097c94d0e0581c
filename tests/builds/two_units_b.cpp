#include "two_units.hpp"

namespace {

// Of the same name as in the other unit, and different on purpose.
struct Failing {
  int* attempts;
  [[noreturn]] void operator()() const {
    ++*attempts;
    throw std::runtime_error{"of unit b"};
  }
};

std::string made_id() {
  return shared_policy.run([](const encore::Attempt& attempt) { return std::string{attempt.call_id()}; });
}

int attempts() {
  auto made = 0;
  try {
    shared_policy.run(Failing{&made});
  } catch (const std::runtime_error&) {}
  return made;
}

}  // namespace

Unit other_unit() {
  return {&shared_policy, &encore::version, encore::Scope::process(), made_id, encore::shared::fresh_stream,
          attempts};
}

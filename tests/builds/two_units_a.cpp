// Two translation units that include everything link into one program, and share what must be one; so do two libraries. (L1)
#include "check.hpp"
#include "two_units.hpp"

#include <set>

namespace {

struct Failing {
  std::set<std::string>* ids;
  int* attempts;
  void operator()(const encore::Attempt& attempt) const {
    ids->emplace(attempt.call_id());
    ++*attempts;
    throw std::runtime_error{"of unit a"};
  }
};

std::string made_id() {
  return shared_policy.run([](const encore::Attempt& attempt) { return std::string{attempt.call_id()}; });
}

}  // namespace

int main() {
  const auto other = other_unit();
#if !defined(TWO_LIBRARIES)
  check(other.policy == &shared_policy);
  check(other.version == &encore::version);
#endif
  check(other.process_scope == encore::Scope::process());

  // One counter: no id and no stream is given twice, whichever unit asks. (A4, C8)
  constexpr auto rounds = 100;
  std::set<std::string> ids;
  std::set<std::uint64_t> streams;
  for (auto round = 0; round < rounds; ++round) {
    ids.insert(made_id());
    ids.insert(other.made_id());
    streams.insert(encore::shared::fresh_stream());
    streams.insert(other.stream());
  }
  check(ids.size() == 2 * rounds);
  check(streams.size() == 2 * rounds);

  // Each unit runs its own callable. Alone, the other's call makes three attempts.
  std::set<std::string> seen;
  auto attempts = 0;
  try {
    shared_policy.run(Failing{&seen, &attempts});
    check(false);
  } catch (const std::runtime_error& error) {
    check(std::string{error.what()} == "of unit a");
  }
  check(attempts == 3 && seen.size() == 1 && !ids.contains(*seen.begin()));
  check(other.attempts() == 3);

  // One mark: a call in the other unit notices that it runs inside an attempt of this one. (J1)
  check(shared_policy.run([&] { return other.attempts(); }) == 1);

  return failed_checks;
}

// One policy in units that are built differently: as usual, without exceptions, without run-time type information.
#pragma once
#include <encore/encore.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

struct IsNegative {
  bool operator()(const int& value) const { return value < 0; }
};
/// Of the unit that is built as usual; throws: the disk is full.
void write_a_line();
struct Log {
  template <class E>
  void operator()(const E& event) const {
    if (event.kind == encore::EventKind::attempt_succeeded) write_a_line();
  }
};

inline auto quiet_policy() {
  return encore::RetryPolicy{encore::RetryOn<std::runtime_error>{} || encore::RetryIfResult{IsNegative{}},
                             encore::MaxRetries{2},
                             encore::ConstantBackoff{.delay = encore::Duration::zero()},
                             encore::WhenNested{encore::Nested::make_single}, encore::ReturnOutcome{}};
}
inline auto logging_policy() { return quiet_policy().with(Log{}); }

// What the other units do.
int attempts_without_exceptions(int first);  // of a call whose first attempt returns this
std::string id_made_without_exceptions();    // for a call that has none
std::string scope_without_exceptions();      // the process's
int attempts_without_rtti();                 // of a call that throws once

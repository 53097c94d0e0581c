// Macros that well-known headers define (the Windows SDK, X11, Qt, glibc, macOS' AssertMacros.h), and the lower-case names that
// GNU dialects define, do not break encore's headers, whichever is included. They come after the standard library and fmt,
// which make no such promise; CMakeLists.txt makes the two lists. [L4]
// clang-format off
#include "standard_headers.hpp"

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define major(device) hostile_major(device)
#define minor(device) hostile_minor(device)
#define ERROR 0
#define NO_ERROR 0L
#define DELETE 0x00010000L
#define IN
#define OUT
#define OPTIONAL
#define interface struct
#define small char
#define near
#define far
#define Yield()
#define None 0L
#define Status int
#define Success 0
#define Bool int
#define True 1
#define False 0
#define Always 2
#define emit
#define signals public
#define slots
#define foreach for
#define forever for (;;)
#define check(assertion)
#define check_noerr(error)
#define verify(assertion)
#define verify_noerr(error)
#define require(assertion, label)
#define require_noerr(error, label)
#define debug(message)
#define hyper long long
#define pascal
#define cdecl
#define unix 1
#define linux 1
#define i386 1
#define always_inline inline
#define noinline
#define cold

#include "every_header.hpp"
// clang-format on

#undef check  // what this program checks with has the same name
#include "check.hpp"

// What uses them with the macros in force: templates are compiled here and not before.
int main() {
  using namespace std::chrono_literals;
  encore::testing::FakeClock clock;
  auto events = 0;
  const encore::RetryPolicy policy{
      encore::RetryOn<std::runtime_error>{} ||
          encore::RetryIfResult{[](int status) { return status == 503; }},
      encore::MaxAttempts{4},
      encore::TimeBudget{10s},
      encore::MinAttemptTime{1s},
      encore::LinearBackoff{.initial_delay = 1s, .step = 1s},
      encore::FullJitter{.at_least = 1s},
      encore::Seed{17},
      encore::ReturnOutcome{},
      [&](const encore::Event&) { ++events; },
      clock,
  };
  auto attempts = 0;
  const auto outcome = policy.run({.id = "call-17"}, [&](const encore::Attempt& attempt) {
    if (++attempts == 1) throw std::runtime_error{"slow"};
    check(attempt.remaining_or(3s) == 3s);
    return attempts < 3 ? 503 : 200;
  });
  check(outcome && *outcome == 200 && outcome.attempts() == 3 && events == 7);
  check(clock.sleeps().size() == 2 && clock.sleeps()[0] == 1s && clock.sleeps()[1] >= 1s &&
        clock.sleeps()[1] <= 2s);
  check(policy.schedule().total().max <= 6s);
  return failed_checks;
}

// Counts every allocation of this program: a call that succeeds at once makes none of its own [L2] (P3), a failed value makes
// none [P8], and a coroutine makes one frame beside its operation's [P13].
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/task.hpp>

#include <array>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {
long allocations = 0;
int failures = 0;

void expect(const char* what, long expected, long counted) {
  if (counted == expected) return;
  std::printf("%s: %ld allocations, expected %ld\n", what, counted, expected);
  ++failures;
}

template <class F>
long allocations_of(F&& run) {
  const auto before = allocations;
  run();
  return allocations - before;
}
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace encore;
using namespace std::chrono_literals;

int main() {
  // That the counter counts at all.
  expect("a string of 100 characters", 1, allocations_of([] { std::string text(100, 'x'); }));

  struct Slow : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const RetryPolicy plain{RetryOn<Slow>{}, ConstantBackoff{0s}};
  const std::array<char, 4000> large{};
  auto events = 0;
  const auto observed = plain.with([&](const Event& event) { events += event.call_id().empty() ? 0 : 1; });
  const auto limited = observed.with(TimeBudget{5s});

  expect("success", 0, allocations_of([&] { plain.run([] { return 1; }); }));
  expect("success, a large capture", 0, allocations_of([&] { plain.run([large] { return large[0]; }); }));
  expect("success, with an id that must be made", 0, allocations_of([&] { observed.run([] { return 1; }); }));
  expect("success, observed, limited, with the attempt", 0, allocations_of([&] {
           limited.run({.id = "call-1"}, [](const Attempt& attempt) { return attempt.ordinal; });
         }));
  expect("success, a string of 100 characters: the callable's own", 1,
         allocations_of([&] { plain.run([] { return std::string(100, 'x'); }); }));
  expect("success, wrapped in an outcome", 0,
         allocations_of([&] { static_cast<void>(plain.with(ReturnOutcome{}).run([] { return 1; })); }));

  const RetryPolicy by_value{RetryIfResult{[](int x) { return x < 0; }}, MaxRetries{3}, ConstantBackoff{0s}};
  expect("four failed values", 0, allocations_of([&] { by_value.run([] { return -1; }); }));
  if (events != 6) std::printf("the observers heard %d events, expected 6\n", events), ++failures;

  using encore::testing::Task;
  const auto sleeper = [](Duration) { return std::suspend_never{}; };
  const auto operation = []() -> Task<int> { co_return 1; };
  const auto coroutine = [&](const char* what, const auto& policy, std::string_view id, const auto& retried,
                             long most) {
    const auto counted = allocations_of([&] {
      auto task = co_run(policy, {.id = id, .name = "a tool"}, retried, sleeper);
      task.start();
    });
    if (counted > most) expect(what, most, counted);
  };
  // The operation's frame and one of encore's; a compiler may leave one out.
  const auto with_attempt = [](const Attempt& attempt) -> Task<int> { co_return attempt.ordinal; };
  const std::string long_id(OwnedCall::room, 'i');
  coroutine("a coroutine", plain, "a call's id of thirty letters", operation, 2);
  coroutine("a coroutine, observed", observed, "a call's id of thirty letters", operation, 2);
  coroutine("a coroutine with its attempt", plain, "a call's id of thirty letters", with_attempt, 2);
  coroutine("a coroutine whose call's texts are long", limited, long_id, with_attempt, 3);
  std::puts(failures == 0 ? "no allocation too many" : "allocations are wrong");
  return failures == 0 ? 0 : 1;
}

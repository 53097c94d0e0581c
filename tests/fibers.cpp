// Attempts on stacks that take turns on one thread, as fibers do: what one marks is never read in another's place.
#include "outer_attempt.hpp"
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/limits.hpp>
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__) && __has_include(<ucontext.h>)
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>

using namespace encore::testing;
using encore::Attempt, encore::Nested, encore::OnFibers, encore::ReplaySafety, encore::RetryOn,
    encore::RetryPolicy, encore::ToolCall, encore::ToolCatalog, encore::ToolRetry, encore::WhenNested;
using encore_tests::outer_attempt_of_a_call;

namespace {

struct Slow : std::runtime_error {
  Slow() : std::runtime_error{"slow"} {}
};

/// A function on a stack of its own, which goes on when it is resumed.
class Fiber {
 public:
  explicit Fiber(std::function<void(Fiber&)> function) : function_{std::move(function)} {
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_->data();
    own_.uc_stack.ss_size = stack_->size();
    own_.uc_link = &resumer_;
    makecontext(&own_, &begin, 0);
  }
  void resume() {
    resumed = this;
    swapcontext(&resumer_, &own_);
  }
  void yield() { swapcontext(&own_, &resumer_); }

 private:
  static void begin() {
    auto* const fiber = resumed;
    fiber->function_(*fiber);
  }
  static inline Fiber* resumed = nullptr;
  std::function<void(Fiber&)> function_;
  std::unique_ptr<std::array<char, 512 * 1024>> stack_ = std::make_unique<std::array<char, 512 * 1024>>();
  ucontext_t own_{}, resumer_{};
};

const RetryPolicy plain{RetryOn<Slow>{}, encore::NoJitter{}};
const RetryPolicy marking = plain.with(WhenNested{});

/// Calls in fibers that begin in the order of `begun` and end in that of `ended`.
template <class Call>
void interleave(const Call& call, std::vector<std::size_t> ended) {
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    fibers.push_back(std::make_unique<Fiber>([&](Fiber& own) { call([&] { own.yield(); }); }));
    fibers.back()->resume();
  }
  for (const auto fiber : ended) fibers[fiber]->resume();
}

/// How many attempts a call makes now that gives way to an outer one.
int attempts_of_a_single_call(encore::Call call = {}) {
  FakeClock clock;
  int attempts = 0;
  CHECK_THROWS_AS(plain.with(clock, WhenNested{Nested::make_single})
                      .run(call,
                           [&] {
                             ++attempts;
                             throw Slow{};
                           }),
                  Slow);
  return attempts;
}

TEST_CASE("a fiber leaves no mark on its thread, even if two fibers end first in, first out [J3]",
          "[fibers]") {
  ToolCatalog tools;
  std::function<void()> yield;
  tools.add("slow", ReplaySafety::repeatable, plain, [&](const ToolCall&) {
    const auto own = yield;
    own();
    return "done";
  });
  interleave(
      [&](const auto& its_yield) {
        yield = its_yield;
        CHECK(tools.handle(ToolCall{.id = "call", .name = "slow"}).content == "done");
      },
      {0, 1});
  Recorder trace;
  FakeClock clock;
  CHECK_THROWS_AS(plain.with(WhenNested{}, trace, clock).run({.id = "later"}, [] { throw Slow{}; }), Slow);
  for (const auto& event : trace.of("later")) CHECK(event.outer_id.empty());
  CHECK(attempts_of_a_single_call() == 3);
}

TEST_CASE("attempts on one thread may end in any order: a mark is read only while its attempt runs [J3]",
          "[fibers]") {
  for (const auto& order : std::vector<std::vector<std::size_t>>{
           {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    interleave([](const auto& yield) { marking.run([&](const Attempt&) { yield(); }); }, order);
    CHECK(outer_attempt_of_a_call() == "none");
  }
  // While some have ended, the mark that is read is that of the latest which has not.
  const auto call = [](const char* id) {
    return [id](Fiber& own) { marking.run({.id = id}, [&] { own.yield(); }); };
  };
  Fiber first{call("first")}, second{call("second")}, third{call("third")};
  for (auto* const fiber : {&first, &second, &third}) fiber->resume();
  CHECK(outer_attempt_of_a_call() == "third 1");
  second.resume();
  CHECK(outer_attempt_of_a_call() == "third 1");
  third.resume();
  CHECK(outer_attempt_of_a_call() == "first 1");
  first.resume();
  CHECK(outer_attempt_of_a_call() == "none");
}

TEST_CASE("with OnFibers no thread is marked, and other calls on the thread are not nested [J3]",
          "[fibers]") {
  const auto check = [](const auto& call) {
    Fiber fiber{[&](Fiber& own) { call([&] { own.yield(); }); }};
    fiber.resume();
    CHECK(outer_attempt_of_a_call() == "none");
    CHECK(attempts_of_a_single_call() == 3);
    fiber.resume();
  };
  check([](const auto& yield) { marking.with(OnFibers{}).run([&] { yield(); }); });
  check([](const auto& yield) {
    const ToolRetry tools{plain, encore::Repeatable{"slow"}, OnFibers{}};
    tools.handle(ToolCall{.id = "call", .name = "slow"}, [&](const ToolCall&) { yield(); });
  });
  check([](const auto& yield) {
    ToolCatalog tools{OnFibers{}};
    tools.add("slow", [&](const ToolCall&) { return yield(), "done"; });
    tools.handle(ToolCall{.id = "call", .name = "slow"});
  });
  check([](const auto& yield) {
    ToolCatalog tools;
    tools.add("slow", plain.with(OnFibers{}), [&](const ToolCall&) { return yield(), "done"; });
    tools.handle(ToolCall{.id = "call", .name = "slow"});
  });
}

TEST_CASE("with OnFibers an attempt that is passed on identifies the outer call [J2, J3]", "[fibers]") {
  marking.with(OnFibers{}).run([](const Attempt& attempt) {
    CHECK(attempts_of_a_single_call({.outer = &attempt}) == 1);
  });
  // A policy on fibers does not look at a thread's mark either: whose it is, nobody knows.
  FakeClock clock;
  int attempts = 0;
  marking.run([&] {
    CHECK_THROWS_AS(plain.with(clock, WhenNested{Nested::make_single}, OnFibers{}).run([&] {
      ++attempts;
      throw Slow{};
    }),
                    Slow);
  });
  CHECK(attempts == 3);
}

TEST_CASE("OnFibers can be set at run time, and when off the thread is marked as usual [J1, J3]",
          "[fibers]") {
  for (const bool on : {false, true}) {
    marking.with(OnFibers{.on = on}).run({.id = "outer"}, [&] {
      CHECK(outer_attempt_of_a_call() == (on ? "none" : "outer 1"));
    });
    CHECK(outer_attempt_of_a_call() == "none");
  }
}

#if !defined(NDEBUG)
TEST_CASE("an attempt that ends on another thread stops a debug build with a message [J3]", "[fibers]") {
  int words[2];
  REQUIRE(pipe(words) == 0);
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(words[1], STDERR_FILENO);
    Fiber fiber{[](Fiber& own) { marking.run([&] { own.yield(); }); }};
    fiber.resume();
    std::thread{[&] { fiber.resume(); }}.join();
    _exit(0);
  }
  close(words[1]);
  std::string said;
  for (char byte = 0; read(words[0], &byte, 1) == 1;) said += byte;
  close(words[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  const std::string message =
      "encore: an attempt ended on another thread than it began on, and leaves its mark there: "
      "give its policy, or its tools' catalog, OnFibers{}\n";
  CHECK(said.find(message) != std::string::npos);  // sanitizers warn of fibers before
}
#endif

}  // namespace
#endif

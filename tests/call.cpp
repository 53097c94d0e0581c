#include <encore/call.hpp>
#include <encore/engine/replay_safety_text.hpp>
#include <encore/limits.hpp>
#include <encore/predicate.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace encore::testing;
using encore::Call, encore::CurrentCall;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

TEST_CASE("a call's own id is used as it is [A4]", "[call]") {
  const Call call{.id = "call_0", .name = "lookup"};
  const CurrentCall current{call};
  CHECK(current.id() == "call_0");
  CHECK(current.name() == "lookup");
}

TEST_CASE("a call without an id gets a process-unique one when it is first asked for, and keeps it [A4]",
          "[call]") {
  const Call call;
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const CurrentCall current{call};
    const auto id = current.id();
    CHECK(id.starts_with("encore-"));
    CHECK(current.id().data() == id.data());
    ids.emplace(id);
  }
  CHECK(ids.size() == 1000);
}

TEST_CASE("every attempt, predicate and event of a call has the same id, given or generated [A4]", "[call]") {
  for (const std::string given : {"call-17", ""}) {
    FakeClock clock;
    Recorder trace;
    std::set<std::string> by_attempts, by_predicate;
    std::vector<int> ordinals;
    const encore::RetryPolicy policy{clock, trace, encore::RetryIf{[&](const encore::Thrown& failure) {
                                       by_predicate.emplace(failure.attempt().call_id());
                                       return true;
                                     }}};
    policy.run({.id = given}, [&](const encore::Attempt& attempt) {
      by_attempts.emplace(attempt.call_id());
      ordinals.push_back(attempt.ordinal);
      if (attempt.ordinal < 3) throw TimeoutError{};
    });
    CHECK(ordinals == std::vector{1, 2, 3});
    REQUIRE(by_attempts.size() == 1);
    CHECK_FALSE(by_attempts.begin()->empty());
    CHECK(by_predicate == by_attempts);
    CHECK(trace.events().call_ids() == std::vector<std::string>{*by_attempts.begin()});
    if (!given.empty()) CHECK(*by_attempts.begin() == given);

    // Observers of a callable that does not look at its attempt see one id too.
    trace.clear();
    int attempts = 0;
    policy.run({.id = given}, [&] {
      if (++attempts < 3) throw TimeoutError{};
    });
    const auto ids = trace.events().call_ids();
    REQUIRE(ids.size() == 1);
    CHECK_FALSE(ids.front().empty());
  }
}

TEST_CASE("two calls without ids get two different ones [A4]", "[call]") {
  FakeClock clock;
  Recorder trace;
  const encore::RetryPolicy policy{clock, trace, encore::RetryOn<TimeoutError>{}};
  policy.run([] {});
  policy.run({.name = "lookup"}, [] {});
  const auto ids = trace.events().call_ids();
  REQUIRE(ids.size() == 2);
  CHECK(ids[0] != ids[1]);
}

TEST_CASE("an id that several threads ask for at once is generated once [A4]", "[call][threads]") {
  const Call call;
  for (int round = 0; round < 50; ++round) {
    const CurrentCall current{call};
    std::vector<std::string> seen(4);
    {
      std::vector<std::jthread> threads;
      for (auto& id : seen) threads.emplace_back([&id, &current] { id = current.id(); });
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [&](const std::string& id) { return id == seen.front(); }));
    CHECK_FALSE(seen.front().empty());
  }
}

TEST_CASE("a call reports whether it has limits of its own", "[call]") {
  CHECK_FALSE(Call{.id = "call", .name = "tool"}.limits_itself());
  CHECK(Call{.deadline = encore::TimePoint{}}.limits_itself());
  CHECK(Call{.replay = encore::ReplaySafety::never}.limits_itself());
  const std::stop_source source;
  const auto token = source.get_token();
  CHECK(Call{.stop = token}.limits_itself());
}

static_assert(to_string(encore::ReplaySafety::repeatable_with_key) == "repeatable_with_key");
static_assert(!std::is_copy_constructible_v<CurrentCall>);  // views of a made id stay valid

TEST_CASE("a failing test shows a replay safety by its name", "[call]") {
  std::ostringstream out;
  out << encore::ReplaySafety::repeatable_with_key;
  CHECK(out.str() == "repeatable_with_key");
}

}  // namespace

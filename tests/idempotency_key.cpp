// The key by which the other side knows a repetition: one for all attempts of a call, and never one that two calls share. (I2)
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/async/co_run.hpp>
#include <encore/nesting.hpp>
#include <encore/observer.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retrying.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/scripted.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace encore;
using namespace encore::testing;

struct TimeoutError : std::runtime_error {
  TimeoutError() : runtime_error{"slow"} {}
};
using Keys = std::vector<std::string>;

/// A scope whose draws are known.
constexpr Scope known{1, 2, [] { return std::uint64_t{7}; }};
const std::string of_known = "00000000000000010000000000000002";

const RetryPolicy plain{RetryOn<TimeoutError>{}, MaxRetries{1}, NoJitter{}, ConstantBackoff{}};
const RetryPolicy marking = plain.with(WhenNested{});

/// The keys of a call whose first attempt fails.
template <class Policy>
Keys keys_of(const Policy& policy, const Call& call) {
  FakeClock clock;
  Keys keys;
  policy.with(clock).run(call, [&](const Attempt& attempt) {
    keys.push_back(attempt.idempotency_key());
    if (attempt.ordinal == 1) throw TimeoutError{};
  });
  return keys;
}
/// Runs `inner(attempt)` in each of two attempts of an outer call, and gives the keys that it noted, attempt by attempt.
template <class Inner>
std::vector<Keys> in_two_attempts(const Inner& inner, const Call& outer = {.id = "outer", .scope = &known}) {
  FakeClock clock;
  std::vector<Keys> keys;
  marking.with(clock).run(outer, [&](const Attempt& attempt) {
    keys.emplace_back();
    inner(attempt, keys.back());
    if (attempt.ordinal == 1) throw TimeoutError{};
  });
  return keys;
}
auto noting(Keys& keys) {
  return [&keys](const Attempt& attempt) { keys.push_back(attempt.idempotency_key()); };
}

TEST_CASE(
    "all attempts of a call have one idempotency key: the scope, the id, and the call's own draw [A4, I2]",
    "[key]") {
  CHECK(keys_of(plain, {.id = "call_0", .scope = &known}) == Keys(2, of_known + "/call_0/0000000000000007"));
  const auto keys = keys_of(plain, {.id = "call_0"});
  CHECK(keys[0] == keys[1]);
  CHECK(keys[0].starts_with(Scope::process().text() + "/call_0/"));
  CHECK(keys[0].size() == 32 + 8 + 16);
}

TEST_CASE("two plain runs of one id, or of none, are two calls with two idempotency keys [A4, I2]", "[key]") {
  for (const auto* id : {"charge", ""}) {
    CAPTURE(id);
    std::set<std::string> keys;
    for (int i = 0; i < 100; ++i) keys.insert(keys_of(plain, {.id = id}).front());
    CHECK(keys.size() == 100);
  }
}

TEST_CASE("idempotency keys are drawn from the system: no seed repeats them [C8, I2]", "[key]") {
  const auto seeded = plain.with(Seed{17}, FullJitter{});
  CHECK(keys_of(seeded, {.id = "charge"}) != keys_of(seeded, {.id = "charge"}));
}

TEST_CASE("the caller's operation key is the idempotency key as it stands, and outlives the call [I2]",
          "[key]") {
  for (int i = 0; i < 2; ++i)
    CHECK(keys_of(plain, {.id = "charge", .operation_key = "order-\xFF/5", .scope = &known}) ==
          Keys(2, "order-\xFF/5"));
}

TEST_CASE(
    "two conversations that both use the id call_0 have two keys, through ToolRetry and through a catalog "
    "[A4, I2]",
    "[key]") {
  FakeClock clock;
  Keys keys;
  const auto ship = [&](const ToolCall&, const Attempt& attempt) {
    keys.push_back(attempt.idempotency_key());
    if (attempt.ordinal == 1) throw TimeoutError{};
    return ToolResult{};
  };
  const ToolRetry tools{plain.with(clock), RepeatableWithKey{"ship"}, TellModel{}};
  ToolCatalog catalog;
  catalog.add("ship", ReplaySafety::repeatable_with_key, plain.with(clock), ship);
  for (const auto* arguments : {"an A to Alice", "a B to Bob", "a B to Bob"}) {
    const ToolCall call{.id = "call_0", .name = "ship", .arguments = arguments};
    static_cast<void>(tools.handle(call, ship));
    static_cast<void>(catalog.handle(call));
  }
  REQUIRE(keys.size() == 12);
  for (std::size_t i = 0; i < keys.size(); i += 2) CHECK(keys[i] == keys[i + 1]);
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == 6);
}

TEST_CASE("predicates and observers see the key that the attempts have, whichever asks first [I2]", "[key]") {
  FakeClock clock;
  Keys keys;
  const RetryPolicy policy{clock, MaxRetries{1}, NoJitter{}, RetryIf{[&](const Thrown& failure) {
                             keys.push_back(failure.attempt().call->idempotency_key());
                             return true;
                           }},
                           Observe{[&](const Event& event) {
                             if (event.kind == EventKind::attempt_failed)
                               keys.push_back(event.current->idempotency_key());
                           }}};
  CHECK_THROWS_AS(policy.run({.id = "a"},
                             [&](const Attempt& attempt) {
                               if (attempt.ordinal == 2) keys.push_back(attempt.idempotency_key());
                               throw TimeoutError{};
                             }),
                  TimeoutError);
  REQUIRE(keys.size() == 5);
  CHECK(keys == Keys(5, keys.front()));
}

TEST_CASE("an idempotency key that several threads ask for at once is drawn once [I2]", "[key][threads]") {
  for (int round = 0; round < 50; ++round) {
    const Call call{.id = "a"};
    const CurrentCall current{call};
    Keys seen(4);
    {
      std::vector<std::jthread> threads;
      for (auto& key : seen) threads.emplace_back([&] { key = current.idempotency_key(); });
    }
    CHECK(seen == Keys(4, seen.front()));
  }
}

TEST_CASE("an id cannot imitate another call's key, nor end the header that a key is sent in [I2]", "[key]") {
  CHECK(keys_of(plain, {.id = "a/1%\r\nX: y\xFF", .scope = &known}).front() ==
        of_known + "/a%2f1%25%0d%0aX:%20y%ff/0000000000000007");
  // Inside an attempt: number 1 of "b" inside number 1 of "a", and number 1 of "a/1/b".
  const auto keys = in_two_attempts([](const Attempt&, Keys& noted) {
    marking.run({.id = "a"}, [&] { plain.run({.id = "b"}, noting(noted)); });
    plain.run({.id = "a/1/b"}, noting(noted));
  });
  CHECK(keys[0] ==
        Keys{of_known + "/outer/0000000000000007/a/1/b/1", of_known + "/outer/0000000000000007/a%2f1%2fb/1"});
}

// ---- a call inside an attempt ---------------------------------------------------------------------------------------

TEST_CASE("a call inside an attempt keeps its key when the outer policy makes another attempt [I2, J1]",
          "[key]") {
  const auto inner = [](const Attempt&, Keys& keys) {
    plain.run({.id = "charge"}, noting(keys));
    marking.run({.id = "charge"}, noting(keys));
    plain.run({.id = "ship", .operation_key = "order-5"}, noting(keys));
  };
  const auto outer = of_known + "/outer/0000000000000007";
  CHECK(in_two_attempts(inner) == std::vector(2, Keys{outer + "/charge/1", outer + "/charge/2", "order-5"}));
  CHECK(in_two_attempts(inner, {.operation_key = "redelivered"}) ==
        std::vector(2, Keys{"redelivered/charge/1", "redelivered/charge/2", "order-5"}));
}

TEST_CASE("an inner call's key does not depend on the attempt's other calls or their order [I2]", "[key]") {
  const auto outer = of_known + "/outer/0000000000000007";
  const auto keys = in_two_attempts([](const Attempt& attempt, Keys& noted) {
    if (attempt.ordinal == 1) plain.run({.id = "charge"}, noting(noted));
    plain.run({.id = "ship"}, noting(noted));
    plain.run({.name = "mail"}, noting(noted));  // without an id its name stands in the key
    if (attempt.ordinal == 2) plain.run({.id = "charge"}, noting(noted));
  });
  CHECK(keys[0] == Keys{outer + "/charge/1", outer + "/ship/1", outer + "/mail/1"});
  CHECK(keys[1] == Keys{outer + "/ship/1", outer + "/mail/1", outer + "/charge/1"});
}

TEST_CASE(
    "an inner call that fails before it asks for its key does not pass its number to the next call of its id "
    "[I2]",
    "[key]") {
  const auto outer = of_known + "/outer/0000000000000007";
  for (const Call& order : {Call{.id = "charge"}, Call{.name = "charge"}}) {
    const auto keys = in_two_attempts([&](const Attempt& attempt, Keys& noted) {
      const auto charge = [&](bool is_reached) {
        Retrying driven{plain, {.id = order.id, .name = order.name, .outer = &attempt}};
        CHECK(driven.begin().goes_on());
        try {
          plain.run(order, [&](const Attempt& inner) {
            if (!is_reached) throw std::runtime_error{"no connection"};
            noted.push_back(inner.idempotency_key());
          });
        } catch (const std::runtime_error&) {  // the other orders are tried all the same
        }
      };
      charge(attempt.ordinal == 2);  // there is no connection in the first attempt, and then there is
      charge(true);
    });
    CHECK(keys[0] == Keys{outer + "/charge/4"});
    CHECK(keys[1] == Keys{outer + "/charge/2", outer + "/charge/4"});
  }
}

TEST_CASE(
    "an inner call's own attempts have one key, whether or not its outer attempt has asked for its own [I2]",
    "[key]") {
  for (const auto asks : {false, true}) {
    const auto keys = in_two_attempts([&](const Attempt& attempt, Keys& noted) {
      if (asks) static_cast<void>(attempt.idempotency_key());
      const auto inner = keys_of(marking, {.id = "charge"});
      noted.insert(noted.end(), inner.begin(), inner.end());
      CHECK(attempt.notes().key_used() == asks);  // an inner call's key is not the outer one's
    });
    CHECK(keys == std::vector(2, Keys(2, of_known + "/outer/0000000000000007/charge/1")));
  }
}

TEST_CASE("an outer key that is asked for inside an inner attempt is still the outer call's [I2]", "[key]") {
  const auto keys = in_two_attempts([](const Attempt& attempt, Keys& noted) {
    marking.run({.id = "charge"}, [&] { noted.push_back(attempt.idempotency_key()); });
    noted.push_back(attempt.idempotency_key());
  });
  CHECK(keys == std::vector(2, Keys(2, of_known + "/outer/0000000000000007")));
}

TEST_CASE(
    "on another thread, in a coroutine and on fibers a call gets the attempt that it belongs to [I2, J2, J3]",
    "[key][threads]") {
  const auto outer = of_known + "/outer/0000000000000007";
  const auto in_coroutine = [](const Call& call, Keys& noted) {
    FakeClock clock;
    ManualExecutor executor{clock};
    static_cast<void>(executor.run(co_run(
        plain, call,
        [&noted](const Attempt& attempt) -> Task<int> {
          noted.push_back(attempt.idempotency_key());
          co_return 1;
        },
        executor.sleeper())));
  };
  CHECK(in_two_attempts([&](const Attempt& attempt, Keys& noted) {
          std::jthread{[&] { plain.run({.id = "charge", .outer = &attempt}, noting(noted)); }}.join();
          in_coroutine({.id = "ship", .outer = &attempt}, noted);
          plain.with(OnFibers{}).run({.id = "mail", .outer = &attempt}, noting(noted));
          Retrying driven{plain, {.id = "job", .outer = &attempt}};
          CHECK(driven.begin().goes_on());
          noted.push_back(driven.attempt().idempotency_key());
        }) ==
        std::vector(2, Keys{outer + "/charge/1", outer + "/ship/1", outer + "/mail/1", outer + "/job/1"}));
  // Untold, they belong to nobody: whoever happens to run on this thread is no reason to share a stranger's key.
  for (const auto& keys : in_two_attempts([&](const Attempt&, Keys& noted) {
         in_coroutine({.id = "ship"}, noted);
         plain.with(OnFibers{}).run({.id = "mail"}, noting(noted));
         Retrying driven{plain, {.id = "job"}};
         CHECK(driven.begin().goes_on());
         noted.push_back(driven.attempt().idempotency_key());
       }))
    for (const auto& key : keys) CHECK(key.starts_with(Scope::process().text()));
}

TEST_CASE("inner calls that run in parallel have the keys that they have one after another [I2, J2]",
          "[key][threads]") {
  std::set<Keys> seen;
  for (int round = 0; round < 20; ++round)
    for (auto& keys : in_two_attempts([](const Attempt& attempt, Keys& noted) {
           noted.resize(4);
           std::vector<std::jthread> threads;
           for (std::size_t i = 0; i < 4; ++i)
             threads.emplace_back([&noted, &attempt, i] {
               const auto id = std::to_string(i);
               plain.run({.id = id, .outer = &attempt},
                         [&](const Attempt& inner) { noted[i] = inner.idempotency_key(); });
             });
         }))
      seen.insert(keys);
  CHECK(seen.size() == 1);
}

TEST_CASE("an attempt that makes calls of more ids than it can store still gives no key twice [I2]",
          "[key]") {
  const auto keys = in_two_attempts([](const Attempt&, Keys& noted) {
    for (int i = 0; i < 40; ++i) plain.run({.id = std::to_string(i % 20)}, noting(noted));
  });
  CHECK(keys[0] == keys[1]);
  CHECK(std::set<std::string>(keys[0].begin(), keys[0].end()).size() == 40);
}

}  // namespace

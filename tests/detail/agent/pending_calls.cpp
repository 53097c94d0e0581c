#include "../../invalid_setting.hpp"
#include <encore/detail/agent/pending_calls.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

namespace {

using encore::CallSignature;
using encore::Scope;
using encore::detail::PendingCall;
using encore::detail::PendingCalls;

constexpr Scope scope{1, 2};
constexpr CallSignature ship_a{{.name = "ship", .arguments = "A"}};
constexpr CallSignature ship_b{{.name = "ship", .arguments = "B"}};

std::string refusal_of(const std::string& text) {
  return encore_tests::refusal_of([&] { PendingCalls{}.restore(text); });
}

TEST_CASE("each pending call has a key of its own: scope, id, number and signature [I2]", "[pending_calls]") {
  PendingCalls calls;
  const auto prefix = scope.text();
  CHECK(calls.issue("call_0", ship_a, scope).key == prefix + "/call_0/1~" + ship_a.text());
  CHECK(calls.issue("call_0", ship_a, scope).key == prefix + "/call_0/2~" + ship_a.text());
  CHECK(calls.issue("", ship_b, scope).key == prefix + "//3~" + ship_b.text());
  CHECK(calls.issue("a/b\n", ship_b, scope).key == prefix + "/a%2fb%0a/4~" + ship_b.text());
  calls.new_run();
  CHECK(calls.issue("call_0", ship_a, Scope{3, 4}).key == Scope{3, 4}.text() + "/call_0/1~" + ship_a.text());
  CHECK(calls.all().size() == 1);
}

TEST_CASE(
    "a call that comes back is matched to the open one with its id and signature, each once, the earlier "
    "first [H5, I2]",
    "[pending_calls]") {
  PendingCalls calls;
  auto& first = calls.issue("call_0", ship_a, scope);
  auto& second = calls.issue("call_0", ship_a, scope);
  CHECK(calls.resume("call_0", ship_a) == nullptr);  // both are under way
  calls.abandon(second);
  calls.abandon(first);
  CHECK(calls.resume("call_1", ship_a) == nullptr);
  CHECK(calls.resume("call_0", ship_b) == nullptr);
  CHECK(calls.resume("call_0", ship_a) == &first);
  CHECK(calls.resume("call_0", ship_a) == &second);
  CHECK(calls.resume("call_0", ship_a) == nullptr);
  calls.answered(first);
  calls.abandon(second);
  calls.answered(second);
  CHECK(calls.all().empty());
}

TEST_CASE("open calls are saved with their keys and counts, and are not under way after a restart [H5, I2]",
          "[pending_calls]") {
  PendingCalls calls;
  calls.counted(calls.issue("call_0", ship_a, scope), PendingCall::Counted::by_all);
  calls.counted(calls.issue("\xFF", ship_b, scope), PendingCall::Counted::with_its_turn);
  const auto before = calls.all();
  PendingCalls restored;
  restored.restore("{\"state\":\"tool_run\"}\n" + calls.save());
  CHECK(restored.save() == calls.save());
  auto expected = before;
  for (auto& open : expected) {
    open.under_way = false;
    open.effect = PendingCall::Effect::interrupted;
  }
  CHECK(restored.all() == expected);
  CHECK(restored.issue("call_0", ship_a, scope).key == scope.text() + "/call_0/3~" + ship_a.text());
  CHECK(restored.resume("\xFF", ship_b)->key == before.back().key);
}

TEST_CASE(
    "a call answered as unknown is open only after a restart, and is distinguished from one that was "
    "interrupted [I2, I3]",
    "[pending_calls]") {
  using Effect = PendingCall::Effect;
  PendingCalls calls;
  calls.answered_as_unknown(calls.issue("call_0", ship_a, scope));
  CHECK(calls.resume("call_0", ship_a) == nullptr);
  calls.abandon(calls.issue("call_1", ship_a, scope));
  calls.issue("call_2", ship_a, scope);
  PendingCalls restored;
  restored.restore(calls.save());
  CHECK(restored.resume("call_0", ship_a)->effect == Effect::unknown);
  CHECK(restored.resume("call_1", ship_a)->effect == Effect::none);
  CHECK(restored.resume("call_2", ship_a)->effect == Effect::interrupted);
}

TEST_CASE(
    "pending calls are bounded: calls that ended unanswered are forgotten, the oldest first, never one under "
    "way",
    "[pending_calls]") {
  PendingCalls calls;
  const auto& under_way = calls.issue("first", ship_a, scope);
  for (std::size_t i = 0; i < PendingCalls::max_stored + 9; ++i)
    calls.abandon(calls.issue(std::to_string(i), ship_a, scope));
  CHECK(calls.all().size() == PendingCalls::max_stored);
  CHECK(calls.all().front() == under_way);
  CHECK(calls.resume("9", ship_a) == nullptr);
  CHECK(calls.resume("10", ship_a) != nullptr);
}

TEST_CASE("text that is not a saved list of pending calls is rejected by the field's name",
          "[pending_calls]") {
  const std::string all = "{\"state\":\"calls\",\"issued\":2}\n";
  CHECK(refusal_of("") == "encore: number of calls lines = 0 is invalid: it must be 1");
  CHECK(refusal_of(all + R"({"state":"pending_call","id":"1","key":"order-7","counted":1})") ==
        R"(encore: key = "order-7" is invalid: a run's key must end in a call's signature)");
  const auto line = [&](const std::string& counted) {
    return all + R"({"state":"pending_call","id":"1","key":"x/1/1~)" + ship_a.text() + R"(","counted":)" +
           counted + "}";
  };
  CHECK(refusal_of(line("3")) == "encore: counted = 3 is invalid: it must be from 0 to 2");
  CHECK(refusal_of(line("2")) == "not refused");  // as it was saved by earlier versions
  CHECK(refusal_of(line("2,\"refused\":\"by_chance\"")) ==
        "encore: refused = \"by_chance\" is invalid: there is no such stop reason");
  CHECK(refusal_of(line("2,\"effect\":3")) == "encore: effect = 3 is invalid: it must be from 0 to 2");
}

}  // namespace

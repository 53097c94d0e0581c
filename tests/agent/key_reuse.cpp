#include <encore/agent/key_reuse.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace {

using encore::Call;
using encore::KeyReuse;
using encore::OnKeyReused;
using encore::ReplaySafety;

struct Heard {
  std::vector<std::string> lines;
  void operator()(const KeyReuse& reuse) {
    lines.push_back(std::string{reuse.key} + " " + std::string{reuse.call_name} + " " +
                    std::string{reuse.call_id});
  }
};

TEST_CASE("an operation key used for two calls is reported, with the second call [I2]", "[key_reuse]") {
  Heard heard;
  const OnKeyReused hears{[&](const KeyReuse& reuse) { heard(reuse); }};
  Call ship{.id = "call_0",
            .name = "ship",
            .operation_key = "order-7",
            .replay = ReplaySafety::repeatable_with_key};
  hears.look_at(ship, {.name = "ship", .arguments = "A"});
  hears.look_at(ship, {.name = "ship", .arguments = "A"});
  CHECK(heard.lines.empty());
  hears.look_at(ship, {.name = "ship", .arguments = "B"});
  CHECK(heard.lines == std::vector<std::string>{"order-7 ship call_0"});
  ship.id = "call_9";
  hears.look_at(ship, {.name = "ship", .arguments = "C"});
  CHECK(heard.lines.back() == "order-7 ship call_9");
  ship.operation_key = "order-8";
  hears.look_at(ship, {.name = "ship", .arguments = "C"});
  CHECK(heard.lines.size() == 2);
}

TEST_CASE("copies of a key reuse detector share what they have seen", "[key_reuse]") {
  int heard = 0;
  const OnKeyReused hears{[&](const KeyReuse&) { ++heard; }};
  const auto copy = hears;
  const Call ship{.id = "1", .name = "ship", .operation_key = "order-7", .replay = ReplaySafety::never};
  hears.look_at(ship, {.arguments = "A"});
  copy.look_at(ship, {.arguments = "B"});
  CHECK(heard == 1);
}

TEST_CASE(
    "calls that are safe to repeat, and calls without an operation key, are not checked for key reuse [I2]",
    "[key_reuse]") {
  int heard = 0;
  const OnKeyReused hears{[&](const KeyReuse&) { ++heard; }};
  for (const auto* arguments : {"A", "B"}) {
    hears.look_at({.name = "lookup", .operation_key = "order-7"}, {.arguments = arguments});
    hears.look_at({.id = "call_0", .name = "ship", .replay = ReplaySafety::never}, {.arguments = arguments});
  }
  CHECK(heard == 0);
}

}  // namespace

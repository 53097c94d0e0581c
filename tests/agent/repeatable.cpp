#include <encore/agent/repeatable.hpp>

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::DeclaredCall;
using encore::Repeatable;
using encore::RepeatableIf;
using encore::RepeatableWithKey;
using encore::ReplaySafety;
using encore::ToolNames;

constexpr std::optional<ReplaySafety> not_declared{};

TEST_CASE("Repeatable matches a tool's exact name, or not at all [I1]", "[repeatable]") {
  const Repeatable reads{"inventory_lookup", std::string{"weather"}, std::string_view{"news"}};
  CHECK(reads({.name = "inventory_lookup"}) == ReplaySafety::repeatable);
  CHECK(reads({.name = "weather"}) == ReplaySafety::repeatable);
  CHECK(reads({.name = "news"}) == ReplaySafety::repeatable);
  for (const auto* name :
       {"Inventory_lookup", "inventory_lookup ", " weather", "weather2", "inventory", "", "*"}) {
    CAPTURE(name);
    CHECK(reads({.name = name}) == not_declared);
  }
}

TEST_CASE("tools that are repeatable with a key are declared separately [I1, I2]", "[repeatable]") {
  const RepeatableWithKey keyed{"ship"};
  CHECK(keyed({.name = "ship"}) == ReplaySafety::repeatable_with_key);
  CHECK(keyed({.name = "Ship"}) == not_declared);
}

TEST_CASE("an empty Repeatable list names no tool", "[repeatable]") {
  CHECK(Repeatable{}({.name = "lookup"}) == not_declared);
  CHECK(Repeatable{}({.name = ""}) == not_declared);
  CHECK(Repeatable{}.names().empty());
  CHECK(Repeatable{ToolNames{}}.names().empty());
}

TEST_CASE("a Repeatable list owns its names, has each once, and is a regular value", "[repeatable]") {
  Repeatable list;
  {
    const std::string name(100, 'x');
    list = Repeatable{name, name};
  }
  CHECK(list.names() == ToolNames{std::string(100, 'x')});
  CHECK(list == Repeatable{ToolNames{std::string(100, 'x')}});
  CHECK_FALSE(list == Repeatable{});
}

TEST_CASE("a Repeatable list finds a name with any bytes", "[repeatable]") {
  const std::string_view odd{"a\0b\xFF\n", 5};
  CHECK(Repeatable{odd}({.name = odd}) == ReplaySafety::repeatable);
  CHECK(Repeatable{odd}({.name = odd.substr(0, 1)}) == not_declared);
}

TEST_CASE("Repeatable can be a function of the name: tools that it does not accept are not declared [I1]",
          "[repeatable]") {
  const RepeatableIf reads{[](std::string_view name) { return name.starts_with("get_"); }};
  CHECK(reads({.name = "get_weather"}) == ReplaySafety::repeatable);
  CHECK(reads({.name = "send_mail"}) == not_declared);
}

TEST_CASE("a declaring function may look at the arguments, and say how safe a repetition is [I1]",
          "[repeatable]") {
  const RepeatableIf by_call{[](const DeclaredCall& call) {
    if (call.arguments == R"({"dry_run":true})") return ReplaySafety::repeatable;
    return call.name == "ship" ? ReplaySafety::repeatable_with_key : ReplaySafety::never;
  }};
  CHECK(by_call({.name = "ship", .arguments = "{}"}) == ReplaySafety::repeatable_with_key);
  CHECK(by_call({.name = "charge", .arguments = R"({"dry_run":true})"}) == ReplaySafety::repeatable);
  CHECK(by_call({.name = "charge", .arguments = "{}"}) == ReplaySafety::never);
}

}  // namespace

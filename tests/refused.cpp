#include <encore/encore.hpp>
#include <encore/refused.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>

using namespace encore;
using namespace std::chrono_literals;

TEST_CASE("a refusal's exception carries its reason, and says which call was refused and why [G4]",
          "[refused]") {
  const Refused refusal{StopReason::circuit_open, "call-17", "inventory_lookup"};
  CHECK(refusal.reason() == StopReason::circuit_open);
  CHECK(std::string{refusal.what()} ==
        "encore: call call-17 (inventory_lookup) was refused before its first attempt: circuit_open");
  CHECK(std::string{Refused{StopReason::expired_on_entry, "a", ""}.what()} ==
        "encore: call a was refused before its first attempt: expired_on_entry");
  STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<Refused>);
}

TEST_CASE("a refusal's text acts on no terminal and ends no line, however a model names its tools [F5, G4]",
          "[refused]") {
  const auto text = [](std::string_view id, std::string_view name) {
    return std::string{Refused{StopReason::circuit_open, id, name}.what()};
  };
  for (const std::string_view hostile : {"\xC2\x85", "\xC2\x9B", "\xE2\x80\xA8", "\xE2\x80\xAE",
                                         "\xE2\x81\xA6", "\n", "\x1B", "\x7F", "\x9B", "\xFF"}) {
    const auto around = "to" + std::string{hostile} + "ol";
    CHECK(text(around, "tool").find(hostile) == std::string::npos);
    CHECK(text("call-17", around).find(hostile) == std::string::npos);
  }
  CHECK(text("a b", "gr\u00F6\u00DFe\x1B[31m") ==
        "encore: call \"a b\" (\"gr\u00F6\u00DFe\\u001b[31m\") was refused before its first attempt: "
        "circuit_open");
  CHECK(text("call-17", "gr\u00F6\u00DFe") ==
        "encore: call call-17 (gr\u00F6\u00DFe) was refused before its first attempt: circuit_open");
}

TEST_CASE(
    "an expired call is refused without an attempt, and an outer policy does not retry the refusal [B4 D5 "
    "G4]",
    "[refused]") {
  encore::testing::FakeClock clock;
  const RetryPolicy inner{RetryOnEveryException{}, clock};
  const RetryPolicy outer{RetryOnEveryException{}, clock};
  auto inner_runs = 0;
  auto outer_runs = 0;
  try {
    outer.run([&] {
      ++outer_runs;
      inner.run({.id = "late", .deadline = clock.now()}, [&] { ++inner_runs; });
    });
    FAIL("nothing was thrown");
  } catch (const Refused& refusal) {
    CHECK(refusal.reason() == StopReason::expired_on_entry);
  }
  CHECK(outer_runs == 1);
  CHECK(inner_runs == 0);
  CHECK(clock.sleeps().empty());
}

#include "../../invalid_setting.hpp"
#include <encore/detail/agent/key_ledger.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::IssuedCall;
using encore::detail::KeyLedger;

const IssuedCall ship_a{.name = "ship", .arguments = R"({"order":"A"})"};
const IssuedCall ship_b{.name = "ship", .arguments = R"({"order":"B"})"};

std::string refusal_of(const std::string& text) {
  return encore_tests::refusal_of([&] { KeyLedger{}.restore(text); });
}

TEST_CASE("an operation key belongs to the call that it was first used for, and to no other [I2]",
          "[key_ledger]") {
  KeyLedger ledger;
  CHECK(ledger.stands_for("order-7", ship_a));
  CHECK(ledger.stands_for("order-7", ship_a));
  CHECK_FALSE(ledger.stands_for("order-7", ship_b));
  CHECK_FALSE(ledger.stands_for("order-7", {.name = "charge", .arguments = ship_a.arguments}));
  CHECK(ledger.stands_for("order-7", ship_a));
  CHECK(ledger.stands_for("order-8", ship_b));
  CHECK(ledger.stands_for("", ship_b));
  CHECK(ledger.size() == 3);
}

TEST_CASE("a key ledger's memory is bounded: the oldest keys are forgotten first", "[key_ledger]") {
  KeyLedger ledger{{.max_keys = 3}};
  for (const auto* key : {"1", "2", "3", "4"}) CHECK(ledger.stands_for(key, ship_a));
  CHECK(ledger.size() == 3);
  CHECK_FALSE(ledger.stands_for("2", ship_b));
  CHECK_FALSE(ledger.stands_for("4", ship_b));
  CHECK(ledger.stands_for("1", ship_b));  // forgotten, so it is new

  KeyLedger many{{.max_keys = 100}};
  for (int i = 0; i < 10'000; ++i) REQUIRE(many.stands_for(std::to_string(i), ship_a));
  CHECK(many.size() == 100);
  CHECK_FALSE(many.stands_for("9900", ship_b));
}

TEST_CASE("a key ledger survives a restart, and its saved text shows neither keys nor arguments [I2]",
          "[key_ledger]") {
  KeyLedger ledger;
  CHECK(ledger.stands_for("order-7", ship_a));
  CHECK(ledger.stands_for("order-8", ship_b));
  const auto saved = ledger.save();
  CHECK(saved.starts_with(R"({"state":"keys","keys":[")"));
  CHECK(std::count(saved.begin(), saved.end(), '\n') == 1);
  CHECK(saved.find("order") == std::string::npos);

  KeyLedger resumed;
  resumed.restore("{\"state\":\"tool_run\"}\n" + saved);
  CHECK(resumed.save() == saved);
  CHECK(resumed.stands_for("order-7", ship_a));
  CHECK_FALSE(resumed.stands_for("order-8", ship_a));

  KeyLedger smaller{{.max_keys = 1}};
  smaller.restore(saved);
  CHECK(smaller.size() == 1);
  CHECK_FALSE(smaller.stands_for("order-8", ship_a));
}

TEST_CASE("text that is not a key ledger is rejected, and changes nothing", "[key_ledger]") {
  const std::string digits(32, '0');
  CHECK(refusal_of("") == "encore: number of keys lines = 0 is invalid: it must be 1");
  CHECK(refusal_of(R"({"state":"keys","keys":["7"],"calls":["7"]})") ==
        "encore: keys = \"7\" is invalid: it must be 32 lower-case hexadecimal digits");
  CHECK(refusal_of(R"({"state":"keys","keys":[],"calls":[")" + digits + R"("]})") ==
        "encore: calls = 1 values is invalid: there must be 0, one for each key");
  CHECK(refusal_of(R"({"state":"keys","keys":[]})") ==
        "encore: calls = nothing is invalid: the saved line has no such field");
  CHECK(refusal_of(R"({"state":"keys","keys":[],"calls":[]})") == "not refused");

  KeyLedger ledger;
  CHECK(ledger.stands_for("order-7", ship_a));
  CHECK_THROWS_AS(ledger.restore("nonsense"), std::invalid_argument);
  CHECK_FALSE(ledger.stands_for("order-7", ship_b));
}

TEST_CASE("when many threads claim one key, exactly one gets it [I2]", "[key_ledger][threads]") {
  KeyLedger ledger{{.max_keys = 64}};
  std::atomic<int> owners{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto mine = std::to_string(t);
      for (int i = 0; i < 50; ++i) owners += ledger.stands_for(std::to_string(i), {.name = mine}) ? 1 : 0;
      static_cast<void>(ledger.save());
    });
  for (auto& thread : threads) thread.join();
  CHECK(owners == 50);
}

}  // namespace

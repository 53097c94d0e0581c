#include <encore/testing/retry_contract.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using encore::EventKind, encore::testing::Durations, encore::testing::RetryContract;
using encore::testing::detail::make_check, encore::testing::detail::Trial;

TEST_CASE("the contract checks report a call whose id changes between attempts", "[retry_contract]") {
  const RetryContract<int> contract{
      .name = "lookup", .attempts = 3, .waits = Durations{250ms, 500ms}, .success = 17};
  auto check = make_check(
      contract, "lookup",
      Trial<int>{
          .events = {{.kind = EventKind::call_finished}}, .ids = {"call-17", "call-18"}, .ordinals = {1, 1}},
      "always fails", "Slow", 2);
  CHECK(check.broken() ==
        std::vector<std::string>{"attempt 2 has the call id call-18", "attempt 2 has the ordinal 1"});
}

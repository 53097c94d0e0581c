#include <encore/agent/unknown_outcomes.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using encore::UnknownOutcome;
using encore::UnknownOutcomes;

const UnknownOutcome shipment{.call_id = "call-17",
                              .call_name = "Ship",
                              .resolved_name = "ship",
                              .idempotency_key = "order-7",
                              .request_id = "req-9",
                              .signature = "0123456789abcdef0123456789abcdef",
                              .attempts = 3,
                              .error_type = "TimeoutError"};

TEST_CASE("unknown outcomes are listed in order, until they are taken [I3]", "[unknown_outcomes]") {
  UnknownOutcomes list;
  list.add(shipment);
  list.add({.call_id = "call-18"});
  CHECK(list.all() == std::vector{shipment, {.call_id = "call-18"}});
  CHECK(list.take().size() == 2);
  CHECK(list.all().empty());
}

TEST_CASE("unknown outcomes are saved as one line each, and a restore replaces the list [I3]",
          "[unknown_outcomes]") {
  UnknownOutcomes list;
  list.add(shipment);
  list.add({.call_id = "a\n\"b\""});
  CHECK(
      list.save() ==
      R"({"state":"unknown_outcome","call_id":"call-17","call_name":"Ship","resolved_name":"ship","key":"order-7",)"
      R"("request_id":"req-9","signature":"0123456789abcdef0123456789abcdef","attempts":3,"error_type":"TimeoutError"})"
      "\n"
      R"({"state":"unknown_outcome","call_id":"a\n\"b\"","call_name":"","resolved_name":"","key":"",)"
      R"("request_id":"","signature":"","attempts":0,"error_type":""})"
      "\n");
  UnknownOutcomes resumed;
  resumed.add({.call_id = "to be replaced"});
  resumed.restore("{\"state\":\"keys\"}\n" + list.save());
  CHECK(resumed.all() == list.all());
  resumed.restore("");
  CHECK(resumed.all().empty());
}

TEST_CASE("text that is not a list of unknown outcomes is rejected, and changes nothing",
          "[unknown_outcomes]") {
  UnknownOutcomes list;
  list.add(shipment);
  CHECK_THROWS_AS(list.restore("nonsense"), std::invalid_argument);
  CHECK_THROWS_AS(list.restore(R"({"state":"unknown_outcome"})"), std::invalid_argument);
  auto too_many = list.save();
  too_many.replace(too_many.find(":3,"), 3, ":3000000000,");
  CHECK_THROWS_AS(list.restore(too_many), std::invalid_argument);
  CHECK(list.all() == std::vector{shipment});
}

TEST_CASE("no unknown outcome is lost when many threads add and take [I3]", "[unknown_outcomes][threads]") {
  UnknownOutcomes list;
  std::size_t taken = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) list.add(shipment);
    });
  for (int i = 0; i < 100; ++i) taken += list.take().size();
  for (auto& thread : threads) thread.join();
  CHECK(taken + list.all().size() == 800);
}

}  // namespace

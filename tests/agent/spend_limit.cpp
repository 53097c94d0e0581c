#include "../invalid_setting.hpp"
#include "../telemetry/flat_json.hpp"
#include <encore/agent/spend_limit.hpp>
#include <encore/refused.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::Money;
using encore::SpendLimit;
using encore::SpendMeter;
using encore::StopReason;
using encore::usd;
using encore::testing::FakeClock;
using encore_tests::refusal_of;

struct Down : std::runtime_error {
  Down() : std::runtime_error{"down"} {}
};

TEST_CASE(
    "a spend limit refuses a call once spent ≥ limit, and allows one before that even if it exceeds the "
    "limit [H7]",
    "[spend_limit]") {
  SpendMeter spending{SpendLimit{usd(2)}};
  CHECK_FALSE(spending.admit());
  spending.record(usd("1.999999999999"));
  CHECK_FALSE(spending.admit());
  CHECK(spending.remaining() == usd("0.000000000001"));
  spending.record(usd("0.0031"));
  CHECK(spending.spent() == usd("2.003099999999"));
  CHECK(spending.remaining() == usd(0));

  const auto refusal = spending.admit({.name = "search"});
  REQUIRE(refusal);
  CHECK(refusal->reason == StopReason::spend_limit_reached);
  CHECK(refusal->to_model ==
        R"(The tool "search" was not called: the spend limit is reached. Do not call any tool again.)");
  CHECK(refusal->to_person == "spend limit reached: 2.003099999999/2 USD");
  CHECK(refusal->ends_run);
}

TEST_CASE("at exactly the spend limit the next call is refused, and a limit of zero refuses the first [H7]",
          "[spend_limit]") {
  SpendMeter spending{SpendLimit{.limit = usd("0.3")}};
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(spending.admit());
    spending.record(usd(0.1));  // 0.1 + 0.1 + 0.1 is more than 0.3 in doubles
  }
  CHECK(spending.spent() == spending.limit());
  CHECK(spending.admit());
  CHECK(SpendMeter{SpendLimit{usd(0)}}.admit());
}

TEST_CASE("a call refused by the spend limit changes nothing: asking is free [H7]", "[spend_limit]") {
  const SpendMeter spending{SpendLimit{usd(1)}};
  for (int i = 0; i < 1'000; ++i) CHECK_FALSE(spending.admit({.name = "search"}));
  CHECK(spending.spent() == usd(0));
}

TEST_CASE("a negative or NaN cost is invalid by name and value, and nothing is counted [H7]",
          "[spend_limit]") {
  SpendMeter spending{SpendLimit{usd(2)}};
  spending.record(usd(1));
  CHECK(refusal_of([&] { return spending.record(usd(-0.5)), 0; }) ==
        "encore: usd = -0.5 is invalid: it must be finite and not negative");
  CHECK(refusal_of([&] {
          return spending.record(usd(std::numeric_limits<double>::quiet_NaN())), 0;
        }).starts_with("encore: usd = "));
  CHECK(spending.spent() == usd(1));
}

TEST_CASE("costs beyond the range saturate: the total never wraps to a small one [H7]", "[spend_limit]") {
  SpendMeter spending{SpendLimit{usd(9'000'000)}};
  spending.record(usd(8'999'999));
  spending.record(Money::max());
  CHECK(spending.spent() == Money::max());
  spending.record(Money::max());
  CHECK(spending.spent() == Money::max());
  CHECK(spending.admit());
  SpendMeter resumed{SpendLimit{usd(1)}};
  resumed.restore(spending.save());
  CHECK(resumed.spent() == Money::max());
}

TEST_CASE(
    "failed attempts that cost money count, and a retry that exceeds the remaining money is refused [H7, H2]",
    "[spend_limit]") {
  FakeClock clock;
  SpendMeter spending{SpendLimit{usd("0.01")}};
  const encore::RetryPolicy policy{encore::RetryOn<Down>{},
                                   encore::MaxRetries{9},
                                   encore::ConstantBackoff{.delay = 1s},
                                   encore::NoJitter{},
                                   clock,
                                   spending};
  int attempts = 0;
  const auto ask = [&] {
    policy.run([&] {
      ++attempts;
      spending.record(usd("0.004"));
      throw Down{};
    });
  };
  // 0.004 and 0.008 are below the limit, 0.012 is not: three attempts, and no wait before a fourth.
  CHECK_THROWS_AS(ask(), Down);
  CHECK(attempts == 3);
  CHECK(clock.sleeps().size() == 2);
  try {
    ask();
    FAIL("admitted");
  } catch (const encore::Refused& refused) {
    CHECK(refused.reason() == StopReason::spend_limit_reached);
  }
  CHECK(attempts == 3);
}

TEST_CASE("money spent elsewhere during a wait counts when the wait ends [H2]", "[spend_limit]") {
  FakeClock clock;
  SpendMeter spending{SpendLimit{usd(1)}};
  const encore::Now now{clock};
  auto permit = spending.admit(encore::AdmissionRequest{.ordinal = 2, .ahead = 1s, .now = now});
  REQUIRE(permit);
  CHECK(permit->still_admitted(now));
  spending.record(usd(1));
  CHECK_FALSE(permit->still_admitted(now));
  CHECK_FALSE(spending.admit(encore::AdmissionRequest{.ordinal = 2, .ahead = 1s, .now = now}));
}

TEST_CASE("a new run has its whole spend limit again", "[spend_limit]") {
  SpendMeter spending{SpendLimit{usd(1)}};
  spending.record(usd(1));
  CHECK(spending.admit());
  spending.new_run();
  CHECK_FALSE(spending.admit());
  CHECK(spending.spent() == usd(0));
}

TEST_CASE(
    "the amount spent is saved as one JSON line and restored exactly, and other text changes nothing [H7]",
    "[spend_limit]") {
  SpendMeter spending{SpendLimit{usd(2)}};
  spending.record(usd("0.000000000001"));
  spending.record(usd("1.5"));
  CHECK(spending.save() == "{\"state\":\"spend_limit\",\"spent_usd\":\"1.500000000001\"}\n");
  CHECK(tests::flat_json("{\"state\":\"spend_limit\",\"spent_usd\":\"1.500000000001\"}").size() == 2);

  SpendMeter resumed{SpendLimit{usd(1)}};
  resumed.restore("{\"state\":\"step_limit\",\"thread\":1,\"run\":1}\n" + spending.save());
  CHECK(resumed.spent() == spending.spent());
  CHECK(resumed.admit());

  const auto why = [&](const std::string& text) {
    return refusal_of([&] { return resumed.restore(text), 0; });
  };
  CHECK(why(R"({"state":"spend_limit","spent_usd":"-1"})") ==
        "encore: spent_usd = \"-1\" is invalid: it must be an amount in dollars such as 0.0031, with at most "
        "12 decimals");
  CHECK(why(R"({"state":"spend_limit","spent_usd":1})") ==
        "encore: spent_usd = 1 is invalid: it must be a string");
  CHECK(why(R"({"state":"spend_limit"})") ==
        "encore: spent_usd = nothing is invalid: the saved line has no such field");
  CHECK(why("") == "encore: number of spend_limit lines = 0 is invalid: it must be 1");
  CHECK(resumed.spent() == spending.spent());
}

TEST_CASE("no cent is lost between threads [H8]", "[spend_limit][threads]") {
  SpendMeter spending{SpendLimit{usd(2)}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5'000; ++i) {
        static_cast<void>(spending.admit());
        spending.record(usd("0.0001"));
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(spending.spent() == usd(2));
  CHECK(spending.admit());
}

}  // namespace

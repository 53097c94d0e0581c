// What each storm has to cost, worked out by hand from the settings.
#include "storms.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <set>

namespace {

Bill bill(int model_calls, int requests) {
  constexpr std::int64_t cent = 10'000'000'000;  // picodollars
  const auto cost = 4 * cent * model_calls + cent / 2 * requests;
  return {model_calls, requests, encore::Money::of_picodollars(static_cast<std::uint64_t>(cost))};
}

Bill with(const Storm& storm, std::set<encore::StopReason>& reasons) {
  return storm.with([&](const encore::Event& event) {
    if (event.kind == encore::EventKind::call_finished) reasons.insert(event.reason);
  });
}

}  // namespace

TEST_CASE("without encore a storm lasts as long as the agent's loop, and multiplies by its attempts") {
  const auto all = storms();
  REQUIRE(all.size() == 4);
  CHECK(all[0].without() == bill(50, 50 * 5));          // five attempts of the decorator in each step
  CHECK(all[1].without() == bill(50, 50));              // nothing was thrown, so there was one attempt
  CHECK(all[2].without() == bill(50, 50 * 5));          // the inner tool's five attempts, in each step
  CHECK(all[3].without() == bill(50, 50 * 4 * 4 * 4));  // 64 a step: Site Reliability Engineering, ch. 22
}

// The loop detector lets a cycle be made three times over and refuses the call after that. Each of them is a model call; so is
// the one in which the model, told not to call again, gives up.
int model_calls(int cycle) { return 3 * cycle + 1 + 1; }

TEST_CASE("with encore a storm is over when it is seen to go round") {
  const auto all = storms();
  REQUIRE(all.size() == 4);
  std::set<encore::StopReason> reasons;
  CHECK(with(all[0], reasons) == bill(model_calls(1), 3));      // not retried: one request for each call
  CHECK(with(all[1], reasons) == bill(model_calls(3), 9));      // three phrasings, three times over
  CHECK(with(all[2], reasons) == bill(model_calls(1), 2));      // two failures, and the breaker is open
  CHECK(with(all[3], reasons) == bill(model_calls(1), 3 * 4));  // one layer's four attempts
}

TEST_CASE("each storm is ended by what it is said to be ended by") {
  for (const auto& storm : storms()) {
    INFO(storm.name);
    std::set<encore::StopReason> reasons;
    with(storm, reasons);
    for (const auto reason : storm.stopped_by) CHECK(reasons.contains(reason));
  }
}

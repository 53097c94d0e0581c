#include <encore/async/sleeper.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stop_token>
#include <string>

using namespace encore;
using namespace std::chrono_literals;

static_assert(!detail::blocks<testing::Task<void> (*)(Duration)>);
static_assert(detail::blocks<void (*)(Duration)>);  // it returns nothing to wait for

TEST_CASE("a sleeper that takes a stop token gets the call's [K1]", "[sleeper]") {
  std::stop_source source;
  const auto token = source.get_token();
  source.request_stop();
  const auto told = [](Duration duration, const StopView& stop) {
    return std::to_string(duration / 1s) + (stop.stop_requested() ? " stopped" : "");
  };
  const auto not_told = [](Duration duration) { return std::to_string(duration / 1s); };
  CHECK(detail::sleep_with(told, 3s, token) == "3 stopped");
  CHECK(detail::sleep_with(told, 3s, {}) == "3");
  CHECK(detail::sleep_with(not_told, 3s, token) == "3");
}

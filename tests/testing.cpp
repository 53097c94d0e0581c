#include <encore/retry_policy.hpp>
#include <encore/testing.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>

using namespace encore;
using namespace encore::testing;

namespace {
struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

TEST_CASE("a clock, a recorder and a script for tests are available from one include", "[testing]") {
  FakeClock clock;
  Recorder trace;
  Scripted<int> look_up{throws<Slow>("slow"), returns(17)};
  CHECK(RetryPolicy{RetryOn<Slow>{}, clock, trace, NoJitter{}}.run(look_up) == 17);
  CHECK(clock.sleeps() == Durations{std::chrono::seconds{1}});
  CHECK(trace.events().size() == 5);
}

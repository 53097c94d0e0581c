#include <encore/clock.hpp>
#include <encore/stop.hpp>
#include <encore/stop_token.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <stop_token>
#include <type_traits>

using namespace std::chrono_literals;
using encore::StopToken, encore::StopView;

namespace {

// A token of somebody else's, of a source that has stopped already. Its callback type stands outside of it.
struct Stopped {
  bool stop_requested() const noexcept { return true; }
  bool stop_possible() const noexcept { return true; }
};
template <class F>
struct CalledAtOnce {
  CalledAtOnce(Stopped, F f) { f(); }
};
// It cannot call back: a wait could not be ended by it.
struct Mute {
  bool stop_requested() const noexcept { return false; }
  bool stop_possible() const noexcept { return false; }
};

}  // namespace

template <class F>
struct encore::stop_callback_for<Stopped, F> {
  using type = CalledAtOnce<F>;
};

namespace {

static_assert(StopToken<std::stop_token>);
static_assert(StopToken<Stopped>);
static_assert(!StopToken<Mute>);
static_assert(!StopToken<int>);
static_assert(!StopToken<StopView>);
static_assert(
    std::is_constructible_v<StopView, const std::stop_token&>);  // not a temporary: must_not_compile/

TEST_CASE("a stop token whose callback type is named by a trait ends the real clock's wait [K1, L4]",
          "[stop_token]") {
  const Stopped token;
  const StopView view{token};
  CHECK(view.stop_requested());
  encore::SteadyClock::sleep_for(encore::max_wait, view);  // would hang if it did not
}

TEST_CASE("a stop token that never asks to stop does not shorten a real wait [K1]", "[stop_token]") {
  const std::stop_token of_nobody;
  const auto begin = encore::SteadyClock::now();
  encore::SteadyClock::sleep_for(5ms, of_nobody);
  CHECK(encore::SteadyClock::now() - begin >= 5ms);
}

}  // namespace

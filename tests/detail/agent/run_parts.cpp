#include <encore/agent/loop_detector.hpp>
#include <encore/detail/agent/run_parts.hpp>

#include <catch2/catch_test_macros.hpp>

#include <type_traits>

namespace {

using namespace encore;
using encore::detail::RunGuards;

TEST_CASE("a run sorts its arguments into guards and hooks, in any order", "[run_parts]") {
  int lost = 0;
  int reused = 0;
  const OnUnknownOutcome hears{[&](const UnknownOutcome&) { ++lost; }};
  const OnKeyReused reports{[&](const KeyReuse&) { ++reused; }};
  using Hears = std::remove_const_t<decltype(hears)>;
  using Reports = std::remove_const_t<decltype(reports)>;
  using Parts = detail::RunParts<Reports, CallLimit, Hears, LoopDetector, CallLimit>;
  STATIC_CHECK(std::same_as<Parts::Guards, RunGuards<CallLimit, LoopDetector, CallLimit>>);
  STATIC_CHECK(std::same_as<Parts::Reconciler, Hears>);
  STATIC_CHECK(std::same_as<Parts::KeyReuseHook, Reports>);

  const CallLimit one{.run_limit = 1};
  const CallLimit two{.run_limit = 2};
  const LoopDetector loops;
  auto guards = Parts::guards(reports, one, hears, loops, two);
  CHECK(guards.state<CallLimit>().counts().size() == 2);
  Parts::pick<Hears>(reports, one, hears, loops, two)(UnknownOutcome{});
  Parts::pick<Reports>(reports, one, hears, loops, two)(KeyReuse{});
  CHECK(lost == 1);
  CHECK(reused == 1);
}

TEST_CASE("hooks that were not given to a run default to doing nothing", "[run_parts]") {
  using Parts = detail::RunParts<>;
  STATIC_CHECK(std::same_as<Parts::Guards, RunGuards<>>);
  Parts::pick<Parts::Reconciler>()(UnknownOutcome{});
  Parts::pick<Parts::KeyReuseHook>()(KeyReuse{});
}

}  // namespace

#include <encore/telemetry/shadow_counts.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace {

using encore::ShadowCounts;

static_assert(std::is_copy_constructible_v<ShadowCounts> &&
              std::is_nothrow_move_constructible_v<ShadowCounts>);

TEST_CASE("shadow counts begin at zero, have a place for each reason, and compare as a whole",
          "[shadow_counts]") {
  const ShadowCounts none;
  CHECK(none.sooner_because.size() == encore::stop_reason_count);
  CHECK(std::all_of(none.sooner_because.begin(), none.sooner_because.end(),
                    [](std::uint64_t count) { return count == 0; }));
  CHECK(none == ShadowCounts{});
  CHECK(none != ShadowCounts{.calls = 1});
  auto one_reason = none;
  one_reason.sooner_because.back() = 1;
  CHECK(none != one_reason);
}

}  // namespace

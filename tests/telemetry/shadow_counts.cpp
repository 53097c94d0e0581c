#include <encore/telemetry/shadow_counts.hpp>

#include <type_traits>

namespace {

using encore::ShadowCounts;

// A regular value that begins at nothing.
static_assert(std::is_copy_constructible_v<ShadowCounts> &&
              std::is_nothrow_move_constructible_v<ShadowCounts>);
static_assert(ShadowCounts{}.calls == 0 && ShadowCounts{}.sooner_because.size() == encore::stop_reason_count);
static_assert(ShadowCounts{.calls = 1} != ShadowCounts{});

}  // namespace

#include <encore/detail/named.hpp>
#include <encore/stop_reason.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>

using encore::detail::stop_reason_named, encore::StopReason;

static_assert(stop_reason_named("deadline") == StopReason::deadline);

TEST_CASE("every stop reason is found by its full name, and none by a part of it [G7]", "[named]") {
  for (std::size_t i = 0; i < encore::stop_reason_count; ++i) {
    const auto reason = static_cast<StopReason>(i);
    const auto name = to_string(reason);
    CAPTURE(name);
    CHECK(stop_reason_named(name) == reason);
    CHECK_FALSE(stop_reason_named(name.substr(1)));
    CHECK_FALSE(stop_reason_named(name.substr(0, name.size() - 1)));
  }
  CHECK_FALSE(stop_reason_named(""));
  CHECK_FALSE(stop_reason_named("Deadline"));
}

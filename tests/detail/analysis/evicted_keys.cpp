#include <encore/detail/analysis/evicted_keys.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace {

TEST_CASE("an evicted key is never denied, and one that was not evicted is hardly ever claimed",
          "[evicted_keys]") {
  for (const auto count : {0, 1, 1'023, 1'024, 1'025, 100'000}) {
    encore::detail::EvictedKeys keys;
    for (int i = 0; i < count; ++i) keys.add("scope\ncall-" + std::to_string(i));
    int denied = 0, claimed = 0;
    for (int i = 0; i < 100'000; ++i) {
      if (i < count) denied += !keys.may_contain("scope\ncall-" + std::to_string(i));
      claimed += keys.may_contain("scope\nother-" + std::to_string(i));
    }
    CHECK(denied == 0);
    CHECK(claimed == 0);
  }
}

}  // namespace

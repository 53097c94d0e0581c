#include <encore/analysis/plain_words.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using encore::detail::counted;
using encore::detail::short_seconds;

TEST_CASE("one is told from many", "[plain_words]") {
  CHECK(counted(0, "call") == "0 calls");
  CHECK(counted(1, "call") == "1 call");
  CHECK(counted(2, "call") == "2 calls");
}

TEST_CASE("a time has three digits after the point, and more only below a thousandth", "[plain_words]") {
  CHECK(short_seconds(0s) == "0 s");
  CHECK(short_seconds(1234567890ns) == "1.234 s");
  CHECK(short_seconds(250ms) == "0.25 s");
  CHECK(short_seconds(1500ns) == "0.0000015 s");
}

}  // namespace

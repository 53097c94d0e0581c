#include <encore/analysis/finding_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

using namespace std::chrono_literals;
using encore::detail::counted, encore::detail::ids_text, encore::detail::short_seconds;

TEST_CASE("counted nouns are singular for one and plural for many", "[finding_text]") {
  CHECK(counted(0, "call") == "0 calls");
  CHECK(counted(1, "call") == "1 call");
  CHECK(counted(2, "call") == "2 calls");
}

TEST_CASE("a short duration text has three decimal places, and more only below a thousandth",
          "[finding_text]") {
  CHECK(short_seconds(0s) == "0 s");
  CHECK(short_seconds(1234567890ns) == "1.234 s");
  CHECK(short_seconds(250ms) == "0.25 s");
  CHECK(short_seconds(1500ns) == "0.0000015 s");
}

TEST_CASE("a finding's text names the first ids and counts the others", "[finding_text]") {
  CHECK(ids_text({.calls = 1, .ids = {"a"}}) == "a");
  CHECK(ids_text({.calls = 2, .ids = {"a", "b"}}) == "a and b");
  CHECK(ids_text({.calls = 3, .ids = {"a", "b", "c"}}) == "a, b and c");
  CHECK(ids_text({.calls = 7, .ids = {"a", "b", "c", "d", "e"}}) == "a, b, c, d, e and 2 more");
}

#include <encore/hexadecimal.hpp>

#include <catch2/catch_test_macros.hpp>

using encore::detail::hexadecimal;

TEST_CASE("a word is 16 digits, the highest first, leading zeros included", "[hexadecimal]") {
  CHECK(hexadecimal(0) == "0000000000000000");
  CHECK(hexadecimal(0x0123456789abcdefU) == "0123456789abcdef");
  CHECK(hexadecimal(0xfedcba9876543210U) == "fedcba9876543210");
}

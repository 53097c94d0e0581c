#include <encore/detail/hexadecimal.hpp>
#include <encore/durable/saved_state.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string_view>

using encore::detail::from_hexadecimal;
using encore::shared::hexadecimal;

TEST_CASE("a word has 16 hexadecimal digits, the highest first, leading zeros included", "[hexadecimal]") {
  CHECK(hexadecimal(0) == "0000000000000000");
  CHECK(hexadecimal(0x0123456789abcdefU) == "0123456789abcdef");
  CHECK(hexadecimal(0xfedcba9876543210U) == "fedcba9876543210");
}

TEST_CASE("bytes have two hexadecimal digits each, and are read back from them", "[hexadecimal]") {
  constexpr std::string_view bytes{"a\0\xFF", 3};
  CHECK(hexadecimal(bytes) == "6100ff");
  CHECK(from_hexadecimal("6100ff") == bytes);
  CHECK(from_hexadecimal("").value().empty());
  for (const auto* digits : {"6", "6G", "FF", " 6"}) CHECK_FALSE(from_hexadecimal(digits));
}

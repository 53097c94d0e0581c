#include <encore/agent/call_signature.hpp>

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace {

using encore::CallSignature;
using encore::IssuedCall;
using namespace std::string_view_literals;

constexpr CallSignature signature(std::string_view name, std::string_view arguments) {
  return CallSignature{IssuedCall{.name = name, .arguments = arguments}};
}
constexpr CallSignature own(std::string_view text, std::string_view name = {}) {
  return CallSignature{IssuedCall{.name = name, .signature = text}};
}

// Name and arguments, byte for byte. [H6]
static_assert(signature("search", R"({"q":1})") == signature("search", R"({"q":1})"));
static_assert(signature("search", R"({"q":1})") != signature("search", R"({"q": 1})"));
static_assert(signature("search", "{}") != signature("Search", "{}"));
static_assert(signature("ab", "c") != signature("a", "bc"));
static_assert(signature("", "a") != signature("a", ""));
static_assert(signature("", "") != signature("", "\0"sv));
static_assert(signature("a\0"sv, "") != signature("a", ""));

// The caller's own, in place of the two. [H6]
static_assert(own("poll", "search") == own("poll", "other"));
static_assert(own("poll") != own("pull"));
static_assert(own("a") != signature("a", ""));
static_assert(own("") != signature("", ""));

// With its result. [H6]
static_assert(signature("poll", "").with_result("10 %") != signature("poll", "").with_result("20 %"));
static_assert(signature("poll", "").with_result("10 %") == signature("poll", "").with_result("10 %"));
static_assert(signature("poll", "").with_result("") != signature("poll", ""));
static_assert(signature("a", "").with_result("x") != signature("b", "").with_result("x"));

// Both halves count: a signature that agrees in one alone is another. [H6]
static_assert(CallSignature{1, 2} != CallSignature{1, 3} && CallSignature{1, 2} != CallSignature{4, 2});

TEST_CASE("a call signature is 32 hexadecimal digits, and is read back", "[call_signature]") {
  CHECK(CallSignature{0x0123456789abcdef, 0xfedcba9876543210}.text() == "0123456789abcdeffedcba9876543210");
  const auto some = signature("search", "{}");
  CHECK(CallSignature::from_text(some.text()) == some);
  for (const auto* text : {"", "0123", "0123456789abcdeffedcba987654321", "0123456789abcdeffedcba98765432100",
                           "0123456789ABCDEFFEDCBA9876543210", "0123456789abcdeffedcba987654321g",
                           "0123456789abcdef fedcba987654321"}) {
    CAPTURE(text);
    CHECK_FALSE(CallSignature::from_text(text));
  }
}

// Worked out by an independent program from the description in the header: the length and then the bytes, eight at a time and
// little-endian, through mix(high ^ word) and mix(low + word * 0x9e3779b97f4a7c15). It must not change, for saved runs hold it.
TEST_CASE("a call signature is the same in every process and on every machine", "[call_signature]") {
  CHECK(signature("inventory_lookup", R"({"sku":"A-17"})").text() == "2791e91d443f493c2354d3e5bc5a0e29");
  CHECK(own("poll").text() == "e116a084f69cf2038b0c806ddf0643e8");
  CHECK(signature("poll", "").with_result("10 %").text() == "f62288632e04fc2252382211fba2a4e3");
}

TEST_CASE("similar calls have signatures that differ widely in both halves [H6]", "[call_signature]") {
  std::set<std::uint64_t> highs;
  std::set<std::uint64_t> lows;
  std::size_t count = 0;
  const auto take = [&](const CallSignature& some) {
    ++count;
    highs.insert(some.high());
    lows.insert(some.low());
  };
  // 20,000 numbers, and every text that differs from another in one bit or in where it is cut.
  for (int i = 0; i < 20'000; ++i) take(signature("search", "{\"page\":" + std::to_string(i) + "}"));
  std::string text(40, 'x');
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    take(signature("write", text));
    text[bit / 8] = 'x';
  }
  for (std::size_t size = 0; size <= text.size(); ++size) {
    take(signature("zeros", std::string(size, '\0')));
    take(signature(text.substr(0, size), text.substr(size)));
  }
  CHECK(highs.size() == count);
  CHECK(lows.size() == count);
}

TEST_CASE("each bit of a call changes about half the bits of its signature", "[call_signature]") {
  std::string text(24, 'a');
  const auto before = signature("t", text);
  int turned = 0;
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    const auto after = signature("t", text);
    text[bit / 8] = 'a';
    const int here = std::popcount(before.high() ^ after.high()) + std::popcount(before.low() ^ after.low());
    CAPTURE(bit);
    CHECK(here > 30);  // 64 expected, with a standard deviation of 5.7
    turned += here;
  }
  // 192 × 64 = 12,288 expected, with a standard deviation of 78.
  CHECK(turned > 11'900);
  CHECK(turned < 12'700);
}

}  // namespace

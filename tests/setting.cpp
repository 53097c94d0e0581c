#include "invalid_setting.hpp"
#include <encore/setting.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <climits>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

using namespace std::chrono_literals;
using encore::Count;
using encore::Duration;
using encore::NonNegative;
using encore::Share;
using encore::Span;
using encore_tests::is_a_constant;
using encore_tests::refusal_of;

using Seconds = std::chrono::duration<double>;

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

// Settings are constants, and read as what they hold.
static_assert(Count<"retries">{0} == 0 && Count<"retries">{INT_MAX} == INT_MAX);
static_assert(Count<"repeats", 2>{2} == 2);
static_assert(NonNegative<"factor">{0.0} == 0.0 && NonNegative<"factor">{1e308} == 1e308);
static_assert(Share<"ratio">{0.0} == 0.0 && Share<"ratio">{1.0} == 1.0);
static_assert(Duration{Span<"delay">{2s}} == 2s && Duration{Span<"delay">{Seconds{0.25}}} == 250ms);
static_assert(Duration{Span<"delay">{std::chrono::hours::max()}} == Duration::max());
static_assert(Duration{Span<"delay">{std::chrono::duration<unsigned, std::milli>{5}}} == 5ms);

// Members of an aggregate with defaults, given by name.
struct Options {
  Count<"retries"> retries = 2;
  NonNegative<"factor"> factor = 2;
  Span<"delay"> delay = 1s;
};
static_assert(Options{.factor = 3}.factor == 3.0 && Options{.delay = 5ms}.retries == 2);

}  // namespace

TEST_CASE("a count below its minimum is invalid, and the error names field and value [A1, C3]", "[setting]") {
  CHECK(refusal_of([] { return Count<"max_retries">{-1}; }) ==
        "encore: max_retries = -1 is invalid: it must not be negative");
  CHECK(refusal_of([] { return Count<"max_retries">{INT_MIN}; }) ==
        "encore: max_retries = -2147483648 is invalid: it must not be negative");
  CHECK(refusal_of([] { return Count<"repeats", 2>{1}; }) ==
        "encore: repeats = 1 is invalid: it must be at least 2");
  CHECK(refusal_of([] { return Options{.retries = -5}; }) ==
        "encore: retries = -5 is invalid: it must not be negative");
}

TEST_CASE("a count beyond the range of int is invalid, and does not wrap [A1, C3]", "[setting]") {
  CHECK(refusal_of([] { return Count<"max_retries">{4'294'967'298}; }) ==
        "encore: max_retries = 4294967298 is invalid: it must be at most 2147483647");
  CHECK(refusal_of([] { return Count<"max_retries">{ULLONG_MAX}; }) ==
        "encore: max_retries = 18446744073709551615 is invalid: it must be at most 2147483647");
  CHECK(refusal_of([] { return Count<"max_retries">{LLONG_MIN}; }) ==
        "encore: max_retries = -9223372036854775808 is invalid: it must not be negative");
  CHECK(refusal_of([] { return Count<"repeats", 2>{1U}; }) ==
        "encore: repeats = 1 is invalid: it must be at least 2");
  STATIC_CHECK(Count<"retries">{INT_MAX + 0LL} == INT_MAX && Count<"retries">{std::size_t{5}} == 5);
  STATIC_CHECK_FALSE(std::is_constructible_v<Count<"retries">, double>);
}

TEST_CASE("a setting that is negative, NaN or infinite is invalid by name [C3]", "[setting]") {
  CHECK(refusal_of([] { return NonNegative<"factor">{-0.5}; }) ==
        "encore: factor = -0.5 is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return NonNegative<"factor">{infinity}; }) ==
        "encore: factor = inf is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return NonNegative<"factor">{-infinity}; }) ==
        "encore: factor = -inf is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return NonNegative<"factor">{not_a_number}; }).starts_with("encore: factor = "));
}

TEST_CASE("a share outside 0 to 1 is invalid by name: 25 is not a quarter [C3] (fault 37: linkerd #2236)",
          "[setting]") {
  CHECK(refusal_of([] { return Share<"ratio">{25.0}; }) ==
        "encore: ratio = 25 is invalid: it must lie between 0 and 1");
  CHECK(refusal_of([] { return Share<"ratio">{-0.01}; }) ==
        "encore: ratio = -0.01 is invalid: it must lie between 0 and 1");
  CHECK(refusal_of([] { return Share<"ratio">{not_a_number}; }).starts_with("encore: ratio = "));
}

TEST_CASE("a duration that is negative, NaN or infinite is invalid by name, in seconds [C3]", "[setting]") {
  CHECK(refusal_of([] { return Span<"delay">{-1500ms}; }) ==
        "encore: delay = -1.5s is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return Span<"delay">{-1ns}; }) ==
        "encore: delay = -1e-09s is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return Span<"delay">{Seconds{infinity}}; }) ==
        "encore: delay = infs is invalid: it must be finite and not negative");
  CHECK(refusal_of([] { return Span<"delay">{Seconds{not_a_number}}; }).starts_with("encore: delay = "));
  CHECK(refusal_of([] { return Span<"delay">{std::chrono::hours::min()}; }).starts_with("encore: delay = -"));
}

TEST_CASE("a duration setting beyond the range saturates, and does not wrap [C7]", "[setting]") {
  CHECK(Duration{Span<"delay">{Seconds{1e30}}} == Duration::max());
  CHECK(Duration{Span<"delay">{std::chrono::years{1'000}}} == Duration::max());
}

TEST_CASE("invalid settings in a constant expression do not compile [C3]", "[setting]") {
  STATIC_CHECK(is_a_constant([] { return Options{}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return Count<"retries">{-1}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return Count<"repeats", 2>{1}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return NonNegative<"factor">{-1.0}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return NonNegative<"factor">{infinity}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return NonNegative<"factor">{not_a_number}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return Share<"ratio">{1.5}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return Span<"delay">{-1s}; }));
  STATIC_CHECK_FALSE(is_a_constant([] { return Span<"delay">{Seconds{infinity}}; }));
}

TEST_CASE("an invalid setting's error gives field, value and reason [C3]", "[setting]") {
  CHECK_THROWS_AS(encore::refuse_setting("name", "\"\"", "is invalid: it must not be empty"),
                  std::invalid_argument);
  CHECK(refusal_of([]() -> int {
          encore::refuse_setting("name", "\"\"", "is invalid: it must not be empty");
        }) == "encore: name = \"\" is invalid: it must not be empty");
}

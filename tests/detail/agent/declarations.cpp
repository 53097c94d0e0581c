#include <encore/detail/agent/declarations.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace {

using encore::Repeatable;
using encore::RepeatableIf;
using encore::RepeatableWithKey;
using encore::ReplaySafety;
using encore::ToolNames;
using encore::detail::Declarations;

template <class... D>
Declarations<D...> together(D... declarations) {
  return Declarations<D...>{std::tuple{declarations...}};
}

TEST_CASE("a tool that was not declared is excluded from retries [I1]", "[declarations]") {
  CHECK(together().safety_of({.name = "charge"}) == ReplaySafety::excluded);
  const auto declared = together(Repeatable{"lookup"}, RepeatableWithKey{"ship"});
  CHECK(declared.safety_of({.name = "lookup"}) == ReplaySafety::repeatable);
  CHECK(declared.safety_of({.name = "ship"}) == ReplaySafety::repeatable_with_key);
  CHECK(declared.safety_of({.name = "charge"}) == ReplaySafety::excluded);
}

TEST_CASE("the most careful of several declarations holds, in any order [I1]", "[declarations]") {
  const RepeatableIf all{[](std::string_view) { return true; }};
  const RepeatableIf none{[](std::string_view) { return false; }};
  const RepeatableIf never{[](std::string_view) { return ReplaySafety::never; }};
  CHECK(together(all, RepeatableWithKey{"ship"}).safety_of({.name = "ship"}) ==
        ReplaySafety::repeatable_with_key);
  CHECK(together(RepeatableWithKey{"ship"}, all).safety_of({.name = "ship"}) ==
        ReplaySafety::repeatable_with_key);
  CHECK(together(Repeatable{"lookup"}, never).safety_of({.name = "lookup"}) == ReplaySafety::never);
  CHECK(together(Repeatable{"lookup"}, none).safety_of({.name = "lookup"}) == ReplaySafety::repeatable);
  CHECK(together(none, none).safety_of({.name = "lookup"}) == ReplaySafety::excluded);
}

TEST_CASE("declarations that contradict each other are invalid, and the error names the tool [I1]",
          "[declarations]") {
  try {
    together(Repeatable{"lookup", "ship"}, Repeatable{"news"}, RepeatableWithKey{"ship"});
    FAIL("accepted");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string{error.what()} ==
          "encore: tool = ship is invalid: it is declared both repeatable and repeatable with a key");
  }
  CHECK_NOTHROW(together(Repeatable{"lookup"}, Repeatable{"lookup"}));
}

TEST_CASE("declarations know the names of all their lists, in order", "[declarations]") {
  const auto declared =
      together(Repeatable{"weather", "lookup"}, RepeatableIf{[](std::string_view) { return true; }},
               RepeatableWithKey{"ship"});
  CHECK(declared.names() == ToolNames{"lookup", "ship", "weather"});
}

}  // namespace

#include <encore/agent/tell_model.hpp>
#include <encore/detail/agent/tool_parts.hpp>
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace {

using namespace encore;
using encore::detail::ToolParts;

struct ByPrefix {
  using role = encore::role::Replay;
  std::optional<ReplaySafety> operator()(const DeclaredCall& call) const {
    if (call.name.starts_with("get_")) return ReplaySafety::repeatable;
    return std::nullopt;
  }
};
constexpr auto says_false = [](bool ok) { return !ok; };

static_assert(detail::is_tool_part<Repeatable> && detail::is_tool_part<const RepeatableWithKey&> &&
              detail::is_tool_part<ByPrefix> && detail::is_tool_part<ErrorResultIf<decltype(says_false)>>);
static_assert(!detail::is_tool_part<TellModel> && !detail::is_tool_part<MaxRetries> &&
              !detail::is_tool_part<SteadyClock&>);
static_assert(std::same_as<detail::tool_parts_t<Repeatable, TellModel, const RepeatableWithKey&, MaxRetries>,
                           Options<Repeatable, RepeatableWithKey>>);

TEST_CASE("a tool layer sorts its arguments into its own parts and its policy's options", "[tool_parts]") {
  const Repeatable reads{"lookup"};
  const auto own = detail::forward_parts<true>(TellModel{}, reads, MaxRetries{1});
  const auto others = detail::forward_parts<false>(TellModel{}, reads, MaxRetries{1});
  STATIC_CHECK(std::same_as<std::remove_const_t<decltype(own)>, std::tuple<const Repeatable&>>);
  STATIC_CHECK(std::same_as<std::remove_const_t<decltype(others)>, std::tuple<TellModel&&, MaxRetries&&>>);
  CHECK(&std::get<0>(own) == &reads);
}

TEST_CASE("a tool layer's parts may come in any order, and missing ones have a default", "[tool_parts]") {
  const ToolParts<Options<Repeatable, ByPrefix>> plain{{Repeatable{"lookup"}, ByPrefix{}}};
  CHECK(plain.declarations.safety_of({.name = "lookup"}) == ReplaySafety::repeatable);
  CHECK(plain.declarations.safety_of({.name = "get_news"}) == ReplaySafety::repeatable);
  CHECK(plain.declarations.safety_of({.name = "ship"}) == ReplaySafety::excluded);
  STATIC_CHECK(std::same_as<decltype(plain.error_test), detail::ErrorResultByType>);
  STATIC_CHECK(std::same_as<decltype(plain.key_reuse), detail::IgnoreKeyReuse>);

  const ErrorResultIf test{says_false};
  const ToolParts<Options<std::remove_const_t<decltype(test)>, RepeatableWithKey>> tested{
      {test, RepeatableWithKey{"ship"}}};
  CHECK(tested.error_test.test(false));
  CHECK(tested.declarations.safety_of({.name = "ship"}) == ReplaySafety::repeatable_with_key);
}

TEST_CASE("a tool layer's policy reports nesting, unless it is configured otherwise [J1]", "[tool_parts]") {
  const RetryPolicy plain{RetryOnEveryException{}};
  const RetryPolicy told{RetryOnEveryException{}, WhenNested{Nested::make_single}};
  CHECK(detail::tool_policy(plain).nested() == Nested::report);
  CHECK(detail::tool_policy(plain, WhenNested{Nested::allow}).nested() == Nested::allow);
  CHECK(detail::tool_policy(told, MaxRetries{7}, Repeatable{}).nested() == Nested::make_single);
  CHECK(detail::tool_policy(told, MaxRetries{7}, Repeatable{}).max_retries() == 7);
}

}  // namespace

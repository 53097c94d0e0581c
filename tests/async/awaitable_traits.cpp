#include <encore/async/awaitable_traits.hpp>
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <concepts>
#include <coroutine>
#include <string>

namespace {

template <class T, class Executor>
struct WithExecutor {};

/// Its value is not a template argument: the trait has to be told.
struct OnlyInt {
  using promise_type = encore::testing::Task<int>::promise_type;
};

}  // namespace

template <>
struct encore::awaitable_traits<OnlyInt> {
  using value_type = int;
  template <class U>
  using rebind = encore::testing::Task<U>;
};

TEST_CASE("a coroutine type is rebound to another value, and keeps its other arguments",
          "[awaitable_traits]") {
  using Traits = encore::awaitable_traits<WithExecutor<int, char>>;
  STATIC_REQUIRE(std::same_as<Traits::value_type, int>);
  STATIC_REQUIRE(std::same_as<Traits::rebind<std::string>, WithExecutor<std::string, char>>);
  STATIC_REQUIRE(std::same_as<encore::awaitable_traits<encore::testing::Task<int&>>::value_type, int&>);
  STATIC_REQUIRE(std::same_as<encore::awaitable_traits<OnlyInt>::rebind<int>, encore::testing::Task<int>>);
}

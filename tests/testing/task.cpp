#include <encore/testing/task.hpp>

#include <catch2/catch_test_macros.hpp>

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <utility>

using encore::testing::Task;

TEST_CASE("a task runs only when it is started, and gives what it returned", "[task]") {
  auto runs = 0;
  auto make = [&]() -> Task<std::unique_ptr<int>> {
    ++runs;
    co_return std::make_unique<int>(7);
  };
  auto task = make();
  CHECK(runs == 0);
  task.start();
  CHECK(task.done());
  CHECK(*task.result() == 7);
}

TEST_CASE("an awaited task resumes its awaiter, with its value or its exception", "[task]") {
  auto inner = [](int x) -> Task<int> {
    if (x < 0) throw std::runtime_error{"negative"};
    co_return x + 1;
  };
  auto outer = [&](int x) -> Task<int> { co_return co_await inner(x) * 10; };
  auto good = outer(1);
  good.start();
  CHECK(good.result() == 20);
  auto bad = outer(-1);
  bad.start();
  CHECK_THROWS_AS(bad.result(), std::runtime_error);
}

TEST_CASE("a task that is destroyed halfway destroys what it holds", "[task]") {
  const auto held = std::make_shared<int>(1);
  {
    auto waits = [](std::shared_ptr<int> kept) -> Task<void> {
      co_await std::suspend_always{};
      *kept = 2;
    };
    auto task = waits(held);
    task.start();
    CHECK(!task.done());
    CHECK(held.use_count() > 1);
  }
  CHECK(held.use_count() == 1);
  CHECK(*held == 1);
}

#include <encore/any_retry_policy.hpp>
#include <encore/engine/operation.hpp>
#include <encore/limits.hpp>
#include <encore/observer.hpp>
#include <encore/on_failure.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/fake_clock.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::Attempt, encore::Event;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

const encore::RetryPolicy no_wait{encore::RetryOn<TimeoutError>{}, encore::ConstantBackoff{0s},
                                  encore::MaxRetries{3}};

// Each rule is held in each way in which a call can start: straight, observed, formatted, with a time limit.
struct Straight {
  static auto policy(FakeClock&) { return no_wait; }
};
struct Observed {
  static auto policy(FakeClock& clock) {
    return no_wait.with(clock, encore::Observe{[](const Event&) {}});
  }
};
struct Formatted {
  struct Anything {
    template <class T>
    operator T() const {
      throw std::logic_error{"this script is not to fail for good"};
    }
  };
  static auto policy(FakeClock& clock) {
    return no_wait.with(clock, encore::FormatFailure{[](const encore::Failure&) { return Anything{}; }});
  }
};
struct Timed {
  static auto policy(FakeClock& clock) {
    return no_wait.with(clock, encore::TimeBudget{1h}, encore::MaxRetries{3});
  }
};

// Fails twice, then goes on.
class Twice {
 public:
  void may_fail() {
    if (++attempts < 3) throw TimeoutError{};
  }
  int attempts = 0;
};

// ---- what can be returned (A6) ----------------------------------------------------------------------------------------

struct NoDefault {
  explicit NoDefault(int n) : value{n} {}
  int value;
};
struct Immovable {
  explicit Immovable(int n) : value{n} {}
  Immovable(const Immovable&) = delete;
  int value;
};

TEMPLATE_TEST_CASE(
    "an operation returns a result of any kind: void, move-only, not default-constructible (fault 33: leaf "
    "#18, outcome #291) [A6]",
    "[operation]", Straight, Observed, Formatted, Timed) {
  FakeClock clock;
  const auto policy = TestType::policy(clock);
  Twice twice;
  const auto run = [&](auto make) -> decltype(auto) {
    twice = {};
    return policy.run([&]() -> decltype(make()) {
      twice.may_fail();
      return make();
    });
  };
  STATIC_REQUIRE(std::is_void_v<decltype(run([] {}))>);
  run([] {});
  CHECK(twice.attempts == 3);
  CHECK(*run([] { return std::make_unique<int>(17); }) == 17);
  CHECK(run([] { return NoDefault{18}; }).value == 18);
  CHECK(run([]() -> const std::string { return "constant"; }) == "constant");
  CHECK(run([] { return std::vector<std::unique_ptr<int>>(5); }).size() == 5);
  CHECK(twice.attempts == 3);
}

TEMPLATE_TEST_CASE("an operation constructs a result that cannot be moved in place [A6]", "[operation]",
                   Straight, Observed, Formatted, Timed) {
  FakeClock clock;
  Twice twice;
  const Immovable result = TestType::policy(clock).run([&] {
    twice.may_fail();
    return Immovable{19};
  });
  CHECK(result.value == 19);
  CHECK(twice.attempts == 3);

  const Immovable at_once = TestType::policy(clock).run([&] { return Immovable{20}; });
  CHECK(at_once.value == 20);
}

TEMPLATE_TEST_CASE("an operation returns a reference as that reference [A6]", "[operation]", Straight,
                   Observed, Timed) {
  FakeClock clock;
  const auto policy = TestType::policy(clock);
  int units = 17;
  Twice twice;
  auto lookup = [&]() -> int& {
    twice.may_fail();
    return units;
  };
  STATIC_REQUIRE(std::is_same_v<decltype(policy.run(lookup)), int&>);
  CHECK(&policy.run(lookup) == &units);
  CHECK(twice.attempts == 3);

  auto constant = [&]() -> const int& { return units; };
  CHECK(&policy.run(constant) == &units);
  auto rvalue = [&]() -> int&& { return std::move(units); };
  STATIC_REQUIRE(std::is_same_v<decltype(policy.run(rvalue)), int&&>);
  int&& back = policy.run(rvalue);
  CHECK(&back == &units);
}

// ---- what can be called (A6) ------------------------------------------------------------------------------------------

int plain_function_attempts = 0;
int plain_function(int first, const std::string& second) {
  if (++plain_function_attempts < 3) throw TimeoutError{};
  return first + static_cast<int>(second.size());
}

struct Inventory {
  int attempts = 0;
  int units = 17;
  int lookup(int more) {
    if (++attempts < 3) throw TimeoutError{};
    return units + more;
  }
  int on_attempt(const Attempt& attempt) const { return attempt.ordinal; }
  int constant() const noexcept { return units; }
};
struct Warehouse : Inventory {};

TEMPLATE_TEST_CASE("functions, member functions and data members can be called as operations [A6]",
                   "[operation]", Straight, Observed, Timed) {
  FakeClock clock;
  const auto policy = TestType::policy(clock);
  plain_function_attempts = 0;
  CHECK(policy.run(plain_function, 2, "abc") == 5);
  plain_function_attempts = 0;
  CHECK(policy.run(&plain_function, 2, "abc") == 5);

  Warehouse warehouse;
  CHECK(policy.run(&Inventory::lookup, warehouse, 3) == 20);
  CHECK(warehouse.attempts == 3);
  warehouse.attempts = 0;
  CHECK(policy.run({.id = "by pointer"}, &Inventory::lookup, &warehouse, 3) == 20);
  warehouse.attempts = 0;
  CHECK(policy.run(&Inventory::lookup, std::ref(warehouse), 3) == 20);
  CHECK(policy.run(&Inventory::lookup, std::make_unique<Warehouse>(), 1) == 18);
  CHECK(policy.run(&Inventory::on_attempt, warehouse) == 1);
  CHECK(policy.run(&Inventory::constant, std::as_const(warehouse)) == 17);
  STATIC_REQUIRE(std::is_same_v<decltype(policy.run(&Inventory::units, warehouse)), int&>);
  CHECK(&policy.run(&Inventory::units, warehouse) == &warehouse.units);
  CHECK(&policy.run(&Inventory::units, &warehouse) == &warehouse.units);
}

TEMPLATE_TEST_CASE("mutable and move-only callables keep their state between attempts [A6]", "[operation]",
                   Straight, Observed, Formatted, Timed) {
  FakeClock clock;
  const auto policy = TestType::policy(clock);
  CHECK(policy.run([attempts = 0]() mutable {
    if (++attempts < 3) throw TimeoutError{};
    return attempts;
  }) == 3);
  CHECK(policy.run([owned = std::make_unique<int>(0)] {
    if (++*owned < 3) throw TimeoutError{};
    return *owned;
  }) == 3);

  struct Counting {
    int attempts = 0;
    int operator()() {
      if (++attempts < 3) throw TimeoutError{};
      return attempts;
    }
  } named;
  CHECK(policy.run(named) == 3);
  CHECK(named.attempts == 3);
  const auto constant = [] { return 4; };
  CHECK(policy.run(constant) == 4);
}

// ---- the attempt, where it is wanted (A6) -------------------------------------------------------------------------------

TEMPLATE_TEST_CASE("the attempt is passed after the arguments, to callables that accept it [A4, A6]",
                   "[operation]", Straight, Observed, Formatted, Timed) {
  FakeClock clock;
  const auto policy = TestType::policy(clock);
  std::vector<int> ordinals;
  const auto result = policy.run(
      {.id = "call-17", .name = "inventory_lookup"},
      [&](int number, const std::string& text, const Attempt& attempt) {
        ordinals.push_back(attempt.ordinal);
        CHECK(attempt.call_id() == "call-17");
        CHECK(attempt.call_name() == "inventory_lookup");
        if (ordinals.size() < 3) throw TimeoutError{};
        return number + static_cast<int>(text.size());
      },
      2, std::string{"abc"});
  CHECK(result == 5);
  CHECK(ordinals == std::vector{1, 2, 3});

  CHECK(policy.run([](auto&&... all) { return sizeof...(all); }, 1, 2) == 3);  // takes both: with the attempt
}

TEST_CASE("a callable that could be called with or without the attempt gets it [A6]", "[operation]") {
  struct Both {
    std::string operator()() { return "without"; }
    std::string operator()(const Attempt&) { return "with"; }
  };
  CHECK(no_wait.run(Both{}) == "with");
  STATIC_REQUIRE(encore::detail::takes_attempt<Both>);
  STATIC_REQUIRE_FALSE(encore::detail::takes_attempt<int (*)(int, const std::string&), int, std::string>);
}

// ---- callable and arguments are lvalues on each attempt (A5) ---------------------------------------------------------------

TEMPLATE_TEST_CASE("attempt 2 sees the arguments of attempt 1 (fault 33: Azure #1712) [A5]", "[operation]",
                   Straight, Observed, Formatted, Timed) {
  FakeClock clock;
  const auto policy = TestType::policy(clock);
  std::vector<std::size_t> sizes;
  const auto take_by_value =
      [&](std::vector<int> values) {  // NOLINT: it would be moved into, if anything moved
        sizes.push_back(values.size());
        if (sizes.size() < 3) throw TimeoutError{};
        return values.size();
      };
  CHECK(policy.run(take_by_value, std::vector<int>(100)) == 100);
  CHECK(sizes == std::vector<std::size_t>{100, 100, 100});

  std::vector<int> mine(100);
  sizes.clear();
  CHECK(policy.run(take_by_value, std::move(mine)) == 100);
  CHECK(mine.size() == 100);  // NOLINT: not moved from, which is the point
}

TEMPLATE_TEST_CASE("a callable is called as an lvalue, even if it is a temporary [A5]", "[operation]",
                   Straight, Observed, Timed) {
  struct Choosy {
    std::vector<int> owned = std::vector<int>(100);
    int attempts = 0;
    std::size_t operator()() & {
      if (++attempts < 3) throw TimeoutError{};
      return owned.size();
    }
    std::size_t operator()() && {
      auto gone = std::move(owned);
      return 0;
    }
  };
  FakeClock clock;
  CHECK(TestType::policy(clock).run(Choosy{}) == 100);
}

// What only works once is refused in words, which must_not_compile holds; here, what counts as such.
struct OnlyOnce {
  int operator()() &&;
};
static_assert(encore::detail::runs_only_once<OnlyOnce>);
static_assert(encore::detail::runs_only_once<int (*)(std::unique_ptr<int>), std::unique_ptr<int>>);
static_assert(encore::detail::runs_only_once<int (*)(std::string&&), std::string>);
static_assert(!encore::detail::runs_only_once<int (*)(const std::string&), std::string>);
static_assert(!encore::detail::can_be_repeated<int (*)(int*), std::string>);

}  // namespace

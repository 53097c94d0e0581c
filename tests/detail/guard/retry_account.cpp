#include <encore/detail/guard/retry_account.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>

using namespace std::chrono_literals;
using encore::Duration, encore::detail::Tokens;
using encore::detail::RetryAccount;

namespace {

constexpr encore::TimePoint at(Duration since_the_begin) { return encore::TimePoint{since_the_begin}; }

TEST_CASE("a reserved retry is taken once, or given back [H1, H4]", "[retry_account]") {
  RetryAccount account{Tokens{0.5}, 1, 10s, 100, 0};
  for (int i = 0; i < 4; ++i) account.deposit(at(0s));
  CHECK(account.left_at(at(0s)) == 3.0);
  for (int i = 0; i < 3; ++i) CHECK(account.reserve(at(0s)));
  CHECK(!account.reserve(at(0s)));
  CHECK(account.take(at(0s)));
  account.give_back(false);
  CHECK(account.left_at(at(0s)) == 1.0);
  account.give_back(true);
  CHECK(account.left_at(at(0s)) == 2.0);
}

TEST_CASE("an expired deposit is reserved by no retry, and taken by no retry that reserved it [H4]",
          "[retry_account]") {
  RetryAccount account{Tokens{1}, 1, 10s, 100, 0};
  for (int i = 0; i < 2; ++i) account.deposit(at(0s));
  for (int i = 0; i < 3; ++i) CHECK(account.reserve(at(9s)));
  CHECK(account.take(at(9s)));
  CHECK(account.take(at(10s)));
  CHECK(!account.take(at(10s)));
  account.deposit(at(10s));
  CHECK(account.take(at(10s)));
}

TEST_CASE("a retry account with a share of zero takes no deposits, and can be refilled by time [H4]",
          "[retry_account]") {
  RetryAccount account{Tokens{0}, 0, 10s, 100, 2};
  CHECK(!account.takes_deposits());
  CHECK(account.left_at(at(0s)) == 20.0);
  for (int i = 0; i < 20; ++i) CHECK((account.reserve(at(0s)) && account.take(at(0s))));
  CHECK(!account.reserve(at(999ms)));
  CHECK(account.left_at(at(1s)) == 2.0);
  CHECK(account.left_at(at(1h)) == 20.0);
}

}  // namespace

#include "asio_like_category.hpp"
#include <encore/encore.hpp>
#include <encore/unretryable.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <concepts>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

using namespace encore;

namespace {

struct Plain : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct QuotaSpent : Unretryable {
  using Unretryable::Unretryable;
};
/// Two bases that are `std::exception`: no handler for `std::exception` catches it.
struct Ambiguous : Plain, QuotaSpent {
  Ambiguous() : Plain{"plain"}, QuotaSpent{"quota"} {}
};

template <class Error>
bool never(const Error& thrown) {
  try {
    throw thrown;
  } catch (const std::exception& error) {
    return detail::is_never_retried(Thrown{&error});
  } catch (...) {
    return detail::is_never_retried(Thrown{nullptr});
  }
}

template <class Error>
int attempts_of(const Error& thrown) {
  auto attempts = 0;
  const RetryPolicy policy{RetryOnEveryException{}, MaxRetries{2}, ConstantBackoff{Duration::zero()}};
  try {
    policy.run([&] {
      ++attempts;
      throw thrown;
    });
  } catch (...) {}
  return attempts;
}

}  // namespace

TEST_CASE("permanent errors and cancellations are never retried, whatever the filter says [B4]",
          "[unretryable]") {
  CHECK(attempts_of(Plain{"slow"}) == 3);
  CHECK(attempts_of(QuotaSpent{"quota"}) == 1);
  CHECK(attempts_of(Cancelled{}) == 1);
  CHECK(attempts_of(std::system_error{std::make_error_code(std::errc::operation_canceled)}) == 1);
  CHECK(attempts_of(std::system_error{std::make_error_code(std::errc::timed_out)}) == 3);
  CHECK(attempts_of(std::filesystem::filesystem_error{
            "f", std::make_error_code(std::errc::operation_canceled)}) == 1);
  CHECK(attempts_of(std::system_error{ECANCELED, encore_tests::asio_like}) == 1);
  CHECK(attempts_of(std::system_error{ETIMEDOUT, encore_tests::asio_like}) == 3);
  CHECK(attempts_of(Ambiguous{}) == 1);
  CHECK(attempts_of(17) == 3);
}

TEST_CASE("a returned code that says cancelled is never retried, whatever the filter says [B4 B8]",
          "[unretryable]") {
  const RetryPolicy policy{RetryIfResult{[](const std::error_code& code) { return code.value() != 0; }},
                           MaxRetries{2}, ConstantBackoff{Duration::zero()}};
  const auto attempts_of_code = [&](const std::error_code& code) {
    auto attempts = 0;
    CHECK(policy.run([&] { return ++attempts, code; }) == code);
    return attempts;
  };
  CHECK(attempts_of_code({ECANCELED, encore_tests::asio_like}) == 1);
  CHECK(attempts_of_code(std::make_error_code(std::errc::operation_canceled)) == 1);
  CHECK(attempts_of_code(std::make_error_code(std::errc::timed_out)) == 3);
}

TEST_CASE("of what is never retried, only some was cancelled [B4 K1]", "[unretryable]") {
  const auto cancelled = [](const auto& thrown) {
    try {
      throw thrown;
    } catch (const std::exception& error) {
      return detail::says_cancelled(Thrown{&error});
    }
  };
  CHECK(cancelled(Cancelled{}));
  CHECK(cancelled(std::system_error{std::make_error_code(std::errc::operation_canceled)}));
  CHECK(!cancelled(QuotaSpent{"quota"}));
  CHECK(!cancelled(std::system_error{std::make_error_code(std::errc::timed_out)}));
}

TEST_CASE("a never retried exception is told from others in any handler [B4]", "[unretryable]") {
  CHECK(never(Cancelled{}));
  CHECK(never(Ambiguous{}));
  CHECK(!never(Plain{"slow"}));
  CHECK(!never(std::string{"no exception class at all"}));
}

TEST_CASE("a filter on unrelated types rules them out at compile time, one on their bases does not [P7]",
          "[unretryable]") {
  STATIC_REQUIRE(detail::never_cannot_match<Plain>);
  STATIC_REQUIRE(!detail::never_cannot_match<std::exception>);
  STATIC_REQUIRE(!detail::never_cannot_match<std::runtime_error>);  // a base of both
  STATIC_REQUIRE(!detail::never_cannot_match<std::system_error>);
  STATIC_REQUIRE(!detail::never_cannot_match<QuotaSpent>);
  STATIC_REQUIRE(!detail::never_cannot_match<int>);  // not caught as `std::exception`
}

TEST_CASE("a filter that matches by another base does not make a permanent error retryable [B2 B4]",
          "[unretryable]") {
  auto attempts = 0;
  const RetryPolicy policy{RetryOn<Plain>{}, ConstantBackoff{Duration::zero()}};
  CHECK_THROWS_AS(policy.run([&] {
    ++attempts;
    throw Ambiguous{};
  }),
                  Ambiguous);
  CHECK(attempts == 1);
}

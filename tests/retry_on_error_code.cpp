#include "asio_like_category.hpp"
#include <encore/retry_on_error_code.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cerrno>
#include <filesystem>
#include <ios>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

using encore::RetryOnErrorCode;
using encore::RetryOnTransientErrorCode;

/// A resolver's category, as libraries have them: two codes of its own, of which one means a condition of POSIX.
enum class Lookup { try_again = 1, took_too_long = 2 };
struct LookupCategory : std::error_category {
  const char* name() const noexcept override { return "lookup"; }
  std::string message(int) const override { return "lookup failed"; }
  std::error_condition default_error_condition(int code) const noexcept override {
    return code == static_cast<int>(Lookup::took_too_long) ? std::make_error_condition(std::errc::timed_out)
                                                           : std::error_condition{code, *this};
  }
};
std::error_code make_error_code(Lookup error) {
  static const LookupCategory category;
  return {static_cast<int>(error), category};
}

/// Like `std::expected`, which GCC 12 does not have.
template <class T, class E>
struct Result {
  std::optional<T> value;
  E problem{};
  bool has_value() const { return value.has_value(); }
  const E& error() const { return problem; }
};

template <class P, class E>
bool retries_exception(const P& predicate, const E& error) {
  try {
    throw error;
  } catch (const std::exception& caught) {
    return predicate.matches(encore::Thrown{&caught});
  } catch (...) {
    return predicate.matches(encore::Thrown{nullptr});
  }
}
template <class P, class Value>
bool retries_value(const P& predicate, const Value& value) {
  return predicate.matches(encore::Returned<Value>{value, {}});
}

std::system_error system_error(int number) {
  return std::system_error{number, std::generic_category(), "connect"};
}

}  // namespace

template <>
struct std::is_error_code_enum<Lookup> : std::true_type {};

namespace {

constexpr RetryOnErrorCode on_timeout{std::errc::timed_out};  // a constant: policies can be

using NoErrorCode = Result<int, std::string>;
static_assert(encore::JudgesExceptions<RetryOnErrorCode<1>>);
static_assert(encore::JudgesValues<RetryOnErrorCode<1>, std::error_code>);
static_assert(encore::JudgesValues<RetryOnErrorCode<1>, Result<int, std::errc>>);
static_assert(!encore::JudgesValues<RetryOnErrorCode<1>, int>);
static_assert(!encore::JudgesValues<RetryOnErrorCode<1>, NoErrorCode>);
static_assert(!encore::JudgesValues<RetryOnErrorCode<1>, std::optional<std::error_code>>);
static_assert(std::is_empty_v<RetryOnTransientErrorCode>);

TEST_CASE("a system_error is retried if its code means a listed condition [B6]", "[retry_on_error_code]") {
  CHECK(retries_exception(on_timeout, system_error(ETIMEDOUT)));
  CHECK(retries_exception(on_timeout, std::system_error{make_error_code(Lookup::took_too_long)}));
  CHECK_FALSE(retries_exception(on_timeout, system_error(ECONNRESET)));
  CHECK_FALSE(retries_exception(on_timeout, std::system_error{make_error_code(Lookup::try_again)}));

  const RetryOnErrorCode on_two{std::errc::timed_out, std::errc::connection_reset};
  CHECK(retries_exception(on_two, system_error(ETIMEDOUT)));
  CHECK(retries_exception(on_two, system_error(ECONNRESET)));
}

TEST_CASE("an exception derived from system_error is matched like one [B2]", "[retry_on_error_code]") {
  const auto busy = std::make_error_code(std::errc::device_or_resource_busy);
  CHECK(retries_exception(RetryOnErrorCode{std::errc::device_or_resource_busy},
                          std::filesystem::filesystem_error{"remove", busy}));
  CHECK(retries_exception(RetryOnErrorCode{std::io_errc::stream}, std::ios_base::failure{"read"}));
}

TEST_CASE("an exception without an error code matches no list of codes", "[retry_on_error_code]") {
  CHECK_FALSE(retries_exception(on_timeout, std::runtime_error{"timed_out"}));
  CHECK_FALSE(retries_exception(on_timeout, ETIMEDOUT));
}

TEST_CASE("a listed code matches itself, a listed condition every code equivalent to it",
          "[retry_on_error_code]") {
  const RetryOnErrorCode on_code{std::error_code{ETIMEDOUT, std::generic_category()}};
  CHECK(retries_value(on_code, std::error_code{ETIMEDOUT, std::generic_category()}));
  CHECK_FALSE(retries_value(on_code, std::error_code{Lookup::took_too_long}));

  const RetryOnErrorCode on_condition{std::make_error_condition(std::errc::timed_out)};
  CHECK(retries_value(on_condition, std::error_code{Lookup::took_too_long}));

  const RetryOnErrorCode mixed{std::errc::connection_reset, Lookup::try_again};
  CHECK(retries_value(mixed, std::error_code{Lookup::try_again}));
  CHECK(retries_value(mixed, std::make_error_code(std::errc::connection_reset)));
  CHECK_FALSE(
      retries_value(mixed, std::error_code{1, std::generic_category()}));  // the same number elsewhere
}

TEST_CASE("a returned error code is a failure if it is listed, and a success otherwise [B6] [B8]",
          "[retry_on_error_code]") {
  CHECK(retries_value(on_timeout, std::make_error_code(std::errc::timed_out)));
  CHECK_FALSE(retries_value(on_timeout, std::make_error_code(std::errc::permission_denied)));
  CHECK_FALSE(retries_value(on_timeout, std::error_code{}));
  CHECK(retries_value(on_timeout, Lookup::took_too_long));
  CHECK(retries_value(on_timeout, std::errc::timed_out));
}

TEST_CASE("success is not a failure, and a list that contains it is invalid [A2, C3]",
          "[retry_on_error_code]") {
  CHECK_FALSE(retries_value(on_timeout, std::error_code{}));
  CHECK_FALSE(retries_value(!on_timeout, std::error_code{}));
  CHECK_THROWS_AS(RetryOnErrorCode{std::error_code{}}, std::invalid_argument);
  CHECK_THROWS_AS((RetryOnErrorCode{std::errc::timed_out, std::error_condition{}}), std::invalid_argument);
  CHECK_THROWS_AS(RetryOnErrorCode{std::errc{}}, std::invalid_argument);
}

TEST_CASE("a result like std::expected is judged by its error's code [B6]", "[retry_on_error_code]") {
  using Units = Result<int, std::error_code>;
  CHECK(retries_value(on_timeout, Units{{}, std::make_error_code(std::errc::timed_out)}));
  CHECK_FALSE(retries_value(on_timeout, Units{{}, std::make_error_code(std::errc::permission_denied)}));
  CHECK_FALSE(
      retries_value(on_timeout, Units{17, std::make_error_code(std::errc::timed_out)}));  // a value is there
  CHECK(retries_value(on_timeout, Result<int, std::errc>{{}, std::errc::timed_out}));
  CHECK(retries_value(on_timeout, Result<int, Lookup>{{}, Lookup::took_too_long}));
}

TEST_CASE("operation_canceled is matched by a list that names it, and is not transient [B4]",
          "[retry_on_error_code]") {
  const auto cancelled = std::make_error_code(std::errc::operation_canceled);
  const RetryOnErrorCode listed{std::errc::operation_canceled, cancelled};
  CHECK(retries_value(listed, cancelled));
  CHECK(retries_exception(listed, std::system_error{cancelled}));
  CHECK_FALSE(retries_value(on_timeout, cancelled));
  CHECK_FALSE(retries_value(RetryOnTransientErrorCode{}, cancelled));
}

TEST_CASE("a list of codes has no opinion where there is no error code, and neither has its negation [B9]",
          "[retry_on_error_code]") {
  const auto others = !on_timeout;
  CHECK(retries_exception(others, system_error(ECONNRESET)));
  CHECK_FALSE(retries_exception(others, std::runtime_error{"timed_out"}));
  CHECK_FALSE(retries_value(others, Result<int, std::error_code>{17}));
}

TEST_CASE("transient conditions are those that pass without intervention", "[retry_on_error_code]") {
  constexpr RetryOnTransientErrorCode transient{};
  for (const int number : {ETIMEDOUT, ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENETRESET, ENETDOWN,
                           ENETUNREACH, EHOSTUNREACH, EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, EBUSY, ETXTBSY}) {
    CAPTURE(number);
    CHECK(retries_exception(transient, system_error(number)));
  }
}

TEST_CASE("system errors are recognized in a category that does not translate them, as Asio 1.22's",
          "[retry_on_error_code]") {
  const std::error_code timed_out{ETIMEDOUT, encore_tests::asio_like};
  const std::error_code cancelled{ECANCELED, encore_tests::asio_like};
  CHECK(retries_exception(RetryOnTransientErrorCode{}, std::system_error{timed_out}));
  CHECK(retries_value(RetryOnErrorCode{std::errc::timed_out}, timed_out));
  CHECK(retries_value(RetryOnErrorCode{timed_out}, timed_out));
  CHECK(retries_value(RetryOnErrorCode{std::error_condition{ETIMEDOUT, encore_tests::asio_like}}, timed_out));
  CHECK_FALSE(retries_value(RetryOnErrorCode{std::make_error_code(std::errc::timed_out)}, timed_out));
  CHECK(retries_value(RetryOnErrorCode{cancelled}, cancelled));
  CHECK(retries_value(RetryOnErrorCode{std::errc::operation_canceled}, cancelled));
  CHECK_FALSE(retries_exception(RetryOnTransientErrorCode{}, std::system_error{cancelled}));
}

TEST_CASE("conditions that need a repair are not transient", "[retry_on_error_code]") {
  constexpr RetryOnTransientErrorCode transient{};
  for (const int number : {ECANCELED, EMFILE, ENFILE, ENOMEM, ENOSPC, EADDRINUSE, EACCES, EPERM, ENOENT,
                           EINVAL, EDEADLK, EIO, EBADF, ENOTCONN}) {
    CAPTURE(number);
    CHECK_FALSE(retries_exception(transient, system_error(number)));
  }
}

TEST_CASE("lists of error codes combine with other predicates [B6]", "[retry_on_error_code]") {
  const auto either = RetryOnTransientErrorCode{} || RetryOnErrorCode{std::errc::too_many_files_open};
  CHECK(retries_exception(either, system_error(EMFILE)));
  CHECK(retries_exception(either, system_error(ETIMEDOUT)));
  CHECK(retries_value(either, std::make_error_code(std::errc::too_many_files_open)));
  CHECK_FALSE(retries_exception(either, system_error(EACCES)));

  const auto but_not = RetryOnTransientErrorCode{} && !RetryOnErrorCode{std::errc::connection_refused};
  CHECK(retries_exception(but_not, system_error(ETIMEDOUT)));
  CHECK_FALSE(retries_exception(but_not, system_error(ECONNREFUSED)));
}

}  // namespace

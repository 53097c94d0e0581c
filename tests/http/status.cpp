#include <encore/http/status.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace {

using encore::http::is_transient;
using encore::http::transient_statuses;

static_assert(is_transient(503));
static_assert(!is_transient(404));
static_assert(noexcept(is_transient(503)));

std::vector<int> transient_between(int first, int last) {
  std::vector<int> found;
  for (int status = first; status <= last; ++status) {
    if (is_transient(status)) {
      found.push_back(status);
    }
  }
  return found;
}

TEST_CASE("HTTP statuses that AWS, Google and Polly agree on are transient: 500, 502, 503 and 504",
          "[status]") {
  for (const int status : {500, 502, 503, 504}) {
    CAPTURE(status);
    CHECK(is_transient(status));
  }
}

TEST_CASE("of all other HTTP statuses only 408, 425 and 429 are transient", "[status]") {
  CHECK(transient_between(0, 499) == std::vector{408, 425, 429});
}

TEST_CASE("a server error that is the same each time is not transient", "[status]") {
  // Not implemented, version, negotiation loop, no space (RFC 4918 11.5), loop, extension, captive portal.
  for (const int status : {501, 505, 506, 507, 508, 510, 511}) {
    CAPTURE(status);
    CHECK_FALSE(is_transient(status));
  }
}

TEST_CASE("an unregistered 5xx status counts as 500, an unregistered 4xx as 400 (RFC 9110, 15)", "[status]") {
  for (const int status : {509, 512, 520, 524, 529, 530, 599}) {
    CAPTURE(status);
    CHECK(is_transient(status));
  }
  for (const int status : {430, 440, 460, 498, 499}) {
    CAPTURE(status);
    CHECK_FALSE(is_transient(status));
  }
}

TEST_CASE("a number that is not an HTTP status is not transient", "[status]") {
  for (const int status : {-503, -1, 0, 99, 600, 999, 50'300}) {
    CAPTURE(status);
    CHECK_FALSE(is_transient(status));
  }
}

TEST_CASE("the list of transient statuses is sorted, without repeats, and all of its entries are transient",
          "[status]") {
  CHECK(std::ranges::is_sorted(transient_statuses, std::ranges::less_equal{}));
  CHECK(std::ranges::all_of(transient_statuses, is_transient));
}

}  // namespace

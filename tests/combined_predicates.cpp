#include "attempts_of.hpp"
#include <encore/combined_predicates.hpp>
#include <encore/retry_if.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <stdexcept>
#include <string>

using namespace told;
using encore::RetryIf, encore::RetryIfResult, encore::RetryOn;

namespace {

TEST_CASE("a negated filter retries all but some types (fault 26: retry4j #38) [B6]",
          "[combined_predicates]") {
  const auto all_but = !RetryOn<TransportError, int>{};
  CHECK(attempts_of(all_but, raise(TimeoutError{})) == 1);
  CHECK(attempts_of(all_but, raise(42)) == 1);
  CHECK(attempts_of(all_but, raise(std::logic_error{"other"})) == 3);
  CHECK(attempts_of(all_but, raise("text")) == 3);
}

const auto negative = RetryIfResult{[](int units) { return units < 0; }};
const auto odd = RetryIfResult{[](int units) { return units % 2 != 0; }};
int gives_minus_one() { return -1; }
int gives_minus_two() { return -2; }
int gives_one() { return 1; }
int gives_two() { return 2; }

TEST_CASE("predicates on values compose like their truth tables [B6]", "[combined_predicates]") {
  const auto truth = [](const auto& predicate) {
    std::string row;
    for (const auto give : {gives_minus_one, gives_minus_two, gives_one, gives_two})
      row += attempts_of(predicate, give) == 3 ? '1' : '0';
    return row;
  };
  CHECK(truth(negative) == "1100");
  CHECK(truth(odd) == "1010");
  CHECK(truth(negative || odd) == "1110");
  CHECK(truth(negative && odd) == "1000");
  CHECK(truth(!negative) == "0011");
  CHECK(truth(!(negative || odd)) == "0001");
  CHECK(truth(!negative && odd) == "0010");
  CHECK(truth((negative && !odd) || (odd && !negative)) == "0110");
}

TEST_CASE("predicates on exceptions compose like their truth tables [B6]", "[combined_predicates]") {
  const auto truth = [](const auto& predicate) {
    std::string row;
    row += attempts_of(predicate, raise(TimeoutError{})) == 3 ? '1' : '0';
    row += attempts_of(predicate, raise(TransportError{})) == 3 ? '1' : '0';
    row += attempts_of(predicate, raise(std::logic_error{"bug"})) == 3 ? '1' : '0';
    row += attempts_of(predicate, raise(42)) == 3 ? '1' : '0';
    return row;
  };
  const RetryOn<TransportError> transport;
  const RetryOn<TimeoutError> timeout;
  CHECK(truth(timeout || RetryOn<int>{}) == "1001");
  CHECK(truth(transport && !timeout) == "0100");
  CHECK(truth(!transport) == "0011");
  CHECK(truth(!(transport || RetryOn<int>{})) == "0010");
  CHECK(truth(transport && RetryIf{[](const std::exception& error) { return error.what()[0] == 't'; }}) ==
        "1100");
}

TEST_CASE("in a combination, a predicate without an opinion on this kind of failure is left out [B6]",
          "[combined_predicates]") {
  const auto either = RetryOn<TimeoutError>{} || negative;
  CHECK(attempts_of(either, raise(TimeoutError{})) == 3);
  CHECK(attempts_of(either, raise(42)) == 1);
  CHECK(attempts_of(either, gives_minus_one) == 3);
  CHECK(attempts_of(either, gives_one) == 1);
  const auto neither = !either;
  CHECK(attempts_of(neither, raise(TimeoutError{})) == 1);
  CHECK(attempts_of(neither, raise(42)) == 3);
  CHECK(attempts_of(neither, gives_minus_one) == 1);
  CHECK(attempts_of(neither, gives_one) == 3);
  // Both halves judge both kinds, each by the part that can.
  const auto both = (RetryOn<TransportError>{} || negative) && (RetryOn<TimeoutError>{} || odd);
  CHECK(attempts_of(both, raise(TimeoutError{})) == 3);
  CHECK(attempts_of(both, raise(TransportError{})) == 1);
  CHECK(attempts_of(both, gives_minus_one) == 3);
  CHECK(attempts_of(both, gives_minus_two) == 1);
}

}  // namespace

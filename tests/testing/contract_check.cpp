#include <encore/testing/contract_check.hpp>

#include <catch2/catch_test_macros.hpp>

#include <sstream>
#include <string>
#include <vector>

using encore::testing::ContractCheck;

TEST_CASE("a contract check holds until a point is broken, and prints each broken point [N1]",
          "[contract_check]") {
  ContractCheck check{"lookup, call-17: always fails with TimeoutError"};
  CHECK(check);
  CHECK(to_string(check) == "lookup, call-17: always fails with TimeoutError\n  holds");
  check.expect(true, "never said");
  CHECK(check);
  check.expect(false, "4 attempts instead of 3");
  check.expect(false, "nothing was thrown");
  CHECK_FALSE(check);
  CHECK(check.broken() == std::vector<std::string>{"4 attempts instead of 3", "nothing was thrown"});
  std::ostringstream out;
  out << check;
  CHECK(out.str() ==
        "lookup, call-17: always fails with TimeoutError\n"
        "  BROKEN: 4 attempts instead of 3\n"
        "  BROKEN: nothing was thrown");
}

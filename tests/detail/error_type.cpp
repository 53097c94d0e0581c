#include <encore/error_type.hpp>

#include <catch2/catch_test_macros.hpp>

using encore::detail::plain_type_name;

TEST_CASE("a type's name is the same as MSVC, clang-cl and libc++ spell it", "[error_type]") {
  CHECK(plain_type_name("class std::runtime_error") == "std::runtime_error");
  CHECK(plain_type_name("struct net::Rejected<class net::Inner,enum net::Code>") ==
        "net::Rejected<net::Inner,net::Code>");
  CHECK(plain_type_name("struct `anonymous namespace'::OfThisFile") == "OfThisFile");
  CHECK(plain_type_name("struct `anonymous-namespace'::OfThisFile") == "OfThisFile");
  CHECK(plain_type_name("std::__1::__fs::filesystem::filesystem_error") ==
        "std::filesystem::filesystem_error");
}

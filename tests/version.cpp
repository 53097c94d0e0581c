#include <encore/version.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

static_assert(encore::Version{0, 1, 9} < encore::Version{0, 2, 0});
static_assert(encore::Version{0, 9, 9} < encore::Version{1, 0, 0});
static_assert(encore::Version{1, 2, 3} == encore::Version{1, 2, 3});

TEST_CASE("the headers and the package that CMake installs have one version", "[version]") {
  const auto [major_number, minor_number, patch_number] = encore::version;
  CHECK(std::to_string(major_number) + '.' + std::to_string(minor_number) + '.' +
            std::to_string(patch_number) ==
        ENCORE_CMAKE_PROJECT_VERSION);
}

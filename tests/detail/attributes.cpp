#include <encore/detail/attributes.hpp>

#include <catch2/catch_test_macros.hpp>

namespace {

ENCORE_FORCE_INLINE constexpr int twice(int number) { return 2 * number; }
static_assert(twice(21) == 42);

ENCORE_COLD int thrice(int number) { return 3 * number; }

struct Members {
  int value = 7;
  ENCORE_FORCE_INLINE int inlined() const { return value; }
  ENCORE_COLD int kept_out_of_line() const { return value; }
  template <class T>
  ENCORE_FORCE_INLINE T as() const {
    return static_cast<T>(value);
  }
};

}  // namespace

TEST_CASE("attribute hints apply to functions, members and templates, and change no result", "[attributes]") {
  CHECK(twice(4) == 8);
  CHECK(thrice(4) == 12);
  const Members members;
  CHECK(members.inlined() == members.kept_out_of_line());
  CHECK(members.as<long>() == 7L);
}

TEST_CASE("a lifetime-bound reference refers to the object itself", "[attributes]") {
  Members members;
  CHECK(&encore::detail::found_here(members) == &members);
}

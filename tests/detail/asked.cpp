#include <encore/detail/asked.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

using namespace encore;
using namespace encore::detail;

namespace {

struct Error : std::runtime_error {
  Error() : std::runtime_error{"error"} {}
};
struct Hidden : private Error {};
template <class E>
struct Expected {
  bool has_value() const { return !failed; }
  const E& error() const { return *failed; }
  std::optional<E> failed{};
};
struct AnyText {
  AnyText(const char*) {}
};

// What a catch clause would take, and nothing that it would have to convert.
static_assert(catches<Error, Error> && catches<std::exception, Error> && !catches<Error, std::exception>);
static_assert(!catches<Error, Hidden> && !catches<int, bool> && !catches<std::string, const char*>);
static_assert(catches<const char*, char*> && catches<const Error*, Error*> && !catches<bool, int*>);

constexpr auto on_error = [](const Error&) { return true; };
constexpr auto on_thrown = [](const Thrown&) { return true; };
constexpr auto on_whole = [](const Returned<int>& failure) { return failure.value < 0; };
constexpr auto on_anything = [](const auto&) { return true; };
template <class F, class V, Generic generic = Generic::about_exceptions>
constexpr auto subject = subject_of<F, V, generic>();
static_assert(subject<decltype(on_error), Error> == Subject::value);
static_assert(subject<decltype(on_error), Expected<Error>> == Subject::error);
static_assert(subject<decltype(on_error), std::optional<Error>> == Subject::nothing);
static_assert(subject<decltype(on_thrown), Error> == Subject::nothing);
static_assert(subject<decltype(on_whole), int> == Subject::whole);
static_assert(subject<decltype(on_whole), long> == Subject::nothing);
static_assert(subject<decltype(on_anything), int> == Subject::nothing);
static_assert(subject<decltype(on_anything), int, Generic::about_values> == Subject::value);
static_assert(can_ask<decltype(on_error), Thrown> && !can_ask<decltype(on_whole), Thrown>);

static_assert(HoldsOrConvertsTo<std::optional<Error>, Error> && HoldsOrConvertsTo<Error*, std::exception>);
static_assert(HoldsOrConvertsTo<std::variant<int, Error>, Error> && HoldsOrConvertsTo<const char*, AnyText>);
static_assert(!HoldsOrConvertsTo<std::error_code, std::system_error>);  // an exception can be made of it
static_assert(!HoldsOrConvertsTo<int, Error> && !HoldsOrConvertsTo<std::string, std::exception>);

template <class F, class Failed>
Opinion said(const F& test, const Failed& failure) {
  return opinion_by(test, failure);
}

}  // namespace

TEST_CASE("a test that was not evaluated has no opinion, and neither has its negation [B9]", "[asked]") {
  const FailedAttempt attempt;
  const auto negative = [](int units) { return units < 0; };
  CHECK(said(negative, Returned<int>{-1, attempt}) == Opinion::yes);
  CHECK(said(negative, Returned<int>{1, attempt}) == Opinion::no);
  CHECK(said(negative, Returned<Expected<int>>{Expected<int>{-1}, attempt}) == Opinion::yes);
  CHECK(said(negative, Returned<Expected<int>>{Expected<int>{}, attempt}) == Opinion::none);
  CHECK((!Opinion::none) == Opinion::none);
  CHECK((!Opinion::yes) == Opinion::no);
  try {
    throw -1;
  } catch (...) {
    CHECK(said(negative, Thrown{nullptr}) == Opinion::yes);
    CHECK(said(on_error, Thrown{nullptr}) == Opinion::none);
    CHECK(said(on_whole, Thrown{nullptr}) == Opinion::none);
    CHECK(said(on_thrown, Thrown{nullptr}) == Opinion::yes);
  }
}

TEST_CASE("a generic test is evaluated for std::exception [B9]", "[asked]") {
  const auto has_text = [](const auto& error) { return std::string{error.what()} == "error"; };
  try {
    throw Error{};
  } catch (const std::exception& error) {
    CHECK(said(has_text, Thrown{&error}) == Opinion::yes);
  }
  try {
    throw 42;
  } catch (...) {
    CHECK(said(has_text, Thrown{nullptr}) == Opinion::none);
  }
}

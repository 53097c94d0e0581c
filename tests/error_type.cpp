#include "testing/net_timeout.hpp"
#include <encore/error_type.hpp>

#include <catch2/catch_test_macros.hpp>

#include <exception>
#include <filesystem>
#include <ios>
#include <stdexcept>
#include <string>
#include <system_error>

#if defined(__GLIBCXX__) && __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace net {
struct ReadTimeout : TimeoutError {
  using TimeoutError::TimeoutError;
};
template <class T>
struct Rejected : std::exception {};
// Two `std::exception` bases: no `catch (const std::exception&)` takes it.
struct FromLeft : std::exception {};
struct FromRight : std::exception {};
struct Ambiguous : FromLeft, FromRight {};
struct HasNoText : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
struct superclass {};
}  // namespace net

namespace {

struct OfThisFile : std::exception {};

// The type's name as an observer would ask for it, in the handler of the exception in flight.
template <class E>
std::string type_of(const E& error) {
  try {
    throw error;
  } catch (const std::exception& caught) {
    return encore::error_type(encore::Thrown{&caught});
  } catch (...) {
    return encore::error_type(encore::Thrown{nullptr});
  }
}

TEST_CASE("an error's type is the readable name of its dynamic type", "[error_type]") {
  CHECK(type_of(std::runtime_error{"host db-1"}) == "std::runtime_error");
  CHECK(type_of(net::TimeoutError{"slow"}) == "net::TimeoutError");
  CHECK(type_of(net::Rejected<int>{}) == "net::Rejected<int>");

  const net::ReadTimeout read_timeout{"slow"};
  const net::TimeoutError& as_its_base = read_timeout;
  CHECK(encore::error_type(encore::Thrown{&as_its_base}) == "net::ReadTimeout");
}

TEST_CASE("an error that does not derive from std::exception has its type's name too", "[error_type]") {
  CHECK(type_of(42) == "int");
  CHECK(type_of(net::superclass{}) == "net::superclass");
  CHECK(type_of(net::Ambiguous{}) == "net::Ambiguous");
  const net::superclass thrown{};
  CHECK(type_of(&thrown) == "net::superclass const*");  // "class " is part of a word here
}

TEST_CASE("a type has one name on every platform", "[error_type]") {
  CHECK(type_of(std::filesystem::filesystem_error{"gone", {}}) == "std::filesystem::filesystem_error");
  CHECK(type_of(std::ios_base::failure{"bad"}) == "std::ios_base::failure");
  CHECK(type_of(OfThisFile{}) == "OfThisFile");
}

TEST_CASE("a stored exception gives its type and its text", "[error_type]") {
  const auto kept = std::make_exception_ptr(net::TimeoutError{"host db-1"});
  CHECK(encore::error_type(kept) == "net::TimeoutError");
  CHECK(encore::error_text(kept) == "host db-1");

  const auto number = std::make_exception_ptr(42);
  CHECK(encore::error_type(number) == "int");
  CHECK(encore::error_text(number).empty());
  CHECK(encore::error_text(std::make_exception_ptr(net::HasNoText{})).empty());
}

TEST_CASE("without an exception there is neither type nor text [G4]", "[error_type]") {
  CHECK(encore::error_type(std::exception_ptr{}).empty());
  CHECK(encore::error_text(std::exception_ptr{}).empty());
}

TEST_CASE("outside of any handler a failure that is not a std::exception has an unknown type",
          "[error_type]") {
  CHECK(encore::error_type(encore::Thrown{nullptr}) == "unknown");
}

#if defined(__GLIBCXX__) && __has_include(<pthread.h>)
TEST_CASE("a thread's forced unwind is not an error with a type [B4]", "[error_type]") {
  std::string type;
  pthread_t thread{};
  const auto body = [](void* text) -> void* {
    try {
      pthread_exit(nullptr);
    } catch (...) {
      *static_cast<std::string*>(text) = encore::error_type(encore::Thrown{nullptr});
      throw;
    }
  };
  REQUIRE(pthread_create(&thread, nullptr, body, &type) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  CHECK(type == "unknown");
}
#endif

}  // namespace

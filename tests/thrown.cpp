#include <encore/call.hpp>
#include <encore/thrown.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

using encore::Thrown;

namespace {

// ---- what can be thrown, and what can stand in a filter --------------------------------------------------------------

struct Base : std::runtime_error {
  Base() : std::runtime_error{"base"} {}
};
struct Derived : Base {
  int marker = 17;
};
struct Final final : Derived {};
struct Plain {
  int value = 7;
};
struct PlainDerived : Plain {};
enum class Status { broken };

struct OneException : std::exception {};
struct OtherException : std::exception {};
struct Ambiguous : OneException,
                   OtherException {};  // two std::exception bases: no handler for std::exception catches it
struct PrivateException : private std::exception {};
struct PrivateBase : private Base, Plain {};

struct VirtualLeft : virtual std::exception {};
struct VirtualRight : virtual std::exception {};
struct Diamond : VirtualLeft, VirtualRight {};
struct HidesLeft : private VirtualLeft,
                   public VirtualRight {};  // a std::exception, but to nobody a VirtualLeft
struct TwiceLeft1 : VirtualLeft {};
struct TwiceLeft2 : VirtualLeft {};
struct TwiceLeft : TwiceLeft1, TwiceLeft2 {};  // a std::exception, but which VirtualLeft?

struct Marker {
  virtual ~Marker() = default;
};
struct Marked : std::runtime_error, Marker {
  Marked() : std::runtime_error{"marked"} {}
};
struct MarkedInPrivate : std::runtime_error, private Marker {
  MarkedInPrivate() : std::runtime_error{"marked"} {}
};
struct OtherMark : Marker {};
struct MarkedTwice : Marked, OtherMark {};
struct MarkedOnly : Marker {};

using Throwable =
    std::tuple<std::exception, std::runtime_error, std::logic_error, std::system_error, Base, Derived, Final,
               Plain, PlainDerived, Status, Ambiguous, PrivateException, PrivateBase, Marked, MarkedInPrivate,
               MarkedTwice, MarkedOnly, Diamond, HidesLeft, TwiceLeft, int, long, double, const char*, char*,
               std::string, Base*, const Derived*, void*, std::nullptr_t, void (*)(), int Plain::*>;
using Filters =
    std::tuple<std::exception, std::runtime_error, std::logic_error, Base, Derived, Final, Plain,
               PlainDerived, Status, OneException, OtherException, Ambiguous, PrivateException, PrivateBase,
               Marker, Marked, VirtualLeft, VirtualRight, Diamond, int, long, unsigned, const char*, char*,
               std::string, const Base*, Base*, const void*, void (*)()>;

template <class T>
[[noreturn]] void raise() {
  if constexpr (std::is_same_v<T, std::runtime_error> || std::is_same_v<T, std::logic_error>)
    throw T{"raised"};
  else
    throw T{};
}

template <class E, class T>
bool a_handler_catches() {
  try {
    raise<T>();
  } catch (const E&) {
    return true;
  } catch (...) {
    return false;
  }
}

// As the drivers do it.
template <class T, class Ask>
auto ask(Ask&& ask) {
  try {
    raise<T>();
  } catch (const std::exception& error) {
    return ask(Thrown{&error});
  } catch (...) {
    return ask(Thrown{nullptr});
  }
}

// The filters about which `Thrown` says something else than a handler would.
template <class T, class... E>
std::string wrong_about(std::tuple<E...>*) {
  std::string wrong;
  const auto look = [&]<class F>(std::type_identity<F>) {
    const bool said = ask<T>([](const Thrown& thrown) { return thrown.is<F>(); });
    const bool passed = ask<T>([](const Thrown& thrown) { return thrown.with<F>([](const F&) {}); });
    if (said != a_handler_catches<F, T>() || passed != said) wrong.append(typeid(F).name()).append(1, ' ');
  };
  (look(std::type_identity<E>{}), ...);
  return wrong;
}

TEMPLATE_LIST_TEST_CASE(
    "a type matches exactly what a handler of it catches (faults 26, 30: langchain-js #11318) [B2]",
    "[thrown]", Throwable) {
  CHECK(wrong_about<TestType>(static_cast<Filters*>(nullptr)) == "");
}

TEST_CASE("real handlers catch what the table of type matches assumes", "[thrown]") {
  STATIC_REQUIRE(std::is_base_of_v<std::exception, HidesLeft>);
  CHECK(a_handler_catches<std::exception, Diamond>());
  CHECK_FALSE(a_handler_catches<std::exception, Ambiguous>());
  CHECK_FALSE(a_handler_catches<VirtualLeft, HidesLeft>());
  CHECK_FALSE(a_handler_catches<VirtualLeft, TwiceLeft>());
  CHECK(a_handler_catches<const Base*, const Derived*>());
}

TEST_CASE("the exception found in a failure is the original, not a copy [B2, G1]", "[thrown]") {
  const auto passes_itself = []<class Filter, class T>(std::type_identity<Filter>, std::type_identity<T>) {
    const void* own = nullptr;
    const void* found = nullptr;
    try {
      try {
        raise<T>();
      } catch (const T& error) {
        own = static_cast<const Filter*>(&error);
        throw;
      }
    } catch (const std::exception& error) {
      Thrown{&error}.with<Filter>([&](const Filter& it) { found = &it; });
    } catch (...) {
      Thrown{nullptr}.with<Filter>([&](const Filter& it) { found = &it; });
    }
    return own != nullptr && own == found;
  };
  CHECK(passes_itself(std::type_identity<Base>{}, std::type_identity<Derived>{}));
  CHECK(passes_itself(std::type_identity<std::exception>{}, std::type_identity<Diamond>{}));
  CHECK(passes_itself(std::type_identity<VirtualRight>{}, std::type_identity<HidesLeft>{}));
  CHECK(passes_itself(std::type_identity<OneException>{}, std::type_identity<Ambiguous>{}));
  CHECK(passes_itself(std::type_identity<Plain>{}, std::type_identity<PlainDerived>{}));
}

TEST_CASE("a pointer converted for a handler is passed while it lives [B2]", "[thrown]") {
  Derived object;
  try {
    throw &object;
  } catch (...) {
    const Base* seen = nullptr;
    CHECK(Thrown{nullptr}.with<const Base*>([&](const Base* pointer) { seen = pointer; }));
    CHECK(seen == &object);
  }
}

TEST_CASE("an exception from the inspecting function propagates, and the inspected one stays current [B7]",
          "[thrown]") {
  for (const bool standard : {true, false}) {
    try {
      if (standard) throw Derived{};
      throw Plain{};
    } catch (...) {
      const auto current = std::current_exception();
      const std::exception* base = nullptr;
      Derived* derived = nullptr;
      try {
        throw;
      } catch (Derived& error) {
        base = derived = &error;
      } catch (...) {}
      const Thrown thrown{base};
      const auto look = [&] {
        if (standard)
          thrown.with<Derived>([](const Derived&) { throw 42; });
        else
          thrown.with<Plain>([](const Plain&) { throw 42; });
      };
      CHECK_THROWS_AS(look(), int);
      CHECK(std::current_exception() == current);
    }
  }
}

TEST_CASE("an exception of exactly one type is distinguished from derived ones", "[thrown]") {
  CHECK(ask<Base>([](const Thrown& thrown) { return thrown.is_just<Base>(); }));
  CHECK(ask<Derived>([](const Thrown& thrown) { return thrown.is_just<Derived>(); }));
  CHECK_FALSE(ask<Derived>([](const Thrown& thrown) { return thrown.is_just<Base>(); }));
  CHECK_FALSE(ask<Base>([](const Thrown& thrown) { return thrown.is_just<Derived>(); }));
  CHECK_FALSE(ask<int>([](const Thrown& thrown) { return thrown.is_just<Base>(); }));
}

TEST_CASE("the text of an exception that is not a std::exception is empty", "[thrown]") {
  CHECK(ask<Base>([](const Thrown& thrown) { return std::string{thrown.what()}; }) == "base");
  CHECK(ask<int>([](const Thrown& thrown) { return std::string{thrown.what()}; }) == "");
  CHECK(ask<Ambiguous>([](const Thrown& thrown) { return thrown.error() == nullptr; }));
}

TEST_CASE("values of an attempt that are not known have safe defaults", "[thrown]") {
  const Thrown thrown{nullptr};
  CHECK(thrown.attempt().ordinal == 1);
  CHECK(thrown.attempt().call_id().empty());
  CHECK(thrown.attempt().call_name().empty());
}

}  // namespace

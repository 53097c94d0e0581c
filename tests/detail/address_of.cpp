#include <encore/detail/address_of.hpp>

#include <catch2/catch_test_macros.hpp>

#include <concepts>
#include <memory>

using encore::shared::address_of;

namespace {

struct Misleading {
  int value = 0;
  Misleading* operator&() { return nullptr; }
  const Misleading* operator&() const { return nullptr; }
};

template <class T>
concept HasAddress = requires(T&& object) { address_of(static_cast<T&&>(object)); };

void function() {}

}  // namespace

TEST_CASE("address_of gives an object's address, whatever its operator& returns", "[address_of]") {
  Misleading object;
  const Misleading constant;
  CHECK(&object == nullptr);
  CHECK(static_cast<void*>(address_of(object)) == static_cast<void*>(&object.value));
  CHECK(address_of(constant) == std::addressof(constant));
  STATIC_CHECK(std::same_as<decltype(address_of(constant)), const Misleading*>);
  CHECK(address_of(function) == &function);
}

TEST_CASE("address_of does not accept a temporary", "[address_of]") {
  STATIC_CHECK(HasAddress<Misleading&>);
  STATIC_CHECK(HasAddress<const Misleading&>);
  STATIC_CHECK_FALSE(HasAddress<Misleading>);
}

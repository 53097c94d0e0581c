// The name that a predicate gives to an error: of the first listed type that matches and has one registered.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/thrown.hpp>

#include <string_view>

namespace encore ENCORE_BUILD::detail {

template <class P>
std::string_view name_by(const P& predicate, const Thrown& failure) {
  if constexpr (requires { predicate.name(failure); })
    return predicate.name(failure);
  else
    return {};
}

}  // namespace ENCORE_BUILD::detail

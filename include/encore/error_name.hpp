// A short name for an error type, where the compiler's own is mangled, missing or too long for a log.
#pragma once
#include <encore/detail/attributes.hpp>

#include <string_view>

namespace encore ENCORE_BUILD {

/// Specialise it for an error type to give it a name in events and logs; low in cardinality, as `error.type` should be.
///   template <> inline constexpr std::string_view encore::error_name<TimeoutError> = "timeout";
template <class E>
inline constexpr std::string_view error_name{};

}  // namespace encore ENCORE_BUILD

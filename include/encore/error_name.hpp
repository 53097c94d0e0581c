// A short name for an error type, for where the compiler's name is mangled, missing or too long for a log.
#pragma once
#include <encore/detail/attributes.hpp>

#include <string_view>

namespace encore ENCORE_BUILD {

/// Specialise it for an error type to name it in events and logs. Use few distinct names, as for `error.type`.
///   template <> inline constexpr std::string_view encore::error_name<TimeoutError> = "timeout";
template <class E>
inline constexpr std::string_view error_name{};

}  // namespace encore ENCORE_BUILD

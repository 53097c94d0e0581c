// What an error code says, from whatever library it comes.
#pragma once
#include <encore/detail/attributes.hpp>

#include <string_view>
#include <system_error>

namespace encore ENCORE_BUILD::detail {

/// The code in a category that the standard library can translate. Asio 1.22, for example, has its own untranslated category for
/// system errors, so `asio::error::operation_aborted` equals no `std::errc`. Such a category's name ends in ".system", as in
/// "asio.system", and its values are those of the system.
inline std::error_code recognised(const std::error_code& code) noexcept {
  const auto& category = code.category();
  const auto translated = category.default_error_condition(code.value()).category() != category;
  return !translated && std::string_view{category.name()}.ends_with(".system")
             ? std::error_code{code.value(), std::system_category()}
             : code;
}

inline bool says_cancelled(const std::error_code& code) noexcept {
  return recognised(code) == std::errc::operation_canceled;
}

}  // namespace ENCORE_BUILD::detail

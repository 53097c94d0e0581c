// Error codes of any library, and how they are found in values.
#pragma once
#include <encore/detail/attributes.hpp>

#include <concepts>
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

template <class E>
concept IsErrorCode = std::convertible_to<const E&, std::error_code> || std::same_as<E, std::errc>;

/// The value as an error code; a `std::errc` does not convert implicitly.
template <IsErrorCode E>
std::error_code error_code_of(const E& error) noexcept {
  if constexpr (std::same_as<E, std::errc>)
    return std::make_error_code(error);
  else
    return error;
}

/// Results like `std::expected` whose error is a code.
template <class Result>
concept MayHoldErrorCode = requires(const Result& result) {
  { result.has_value() } -> std::convertible_to<bool>;
  { detail::error_code_of(result.error()) };
};

/// The returned value as an error code, or the code that it holds as its error; no error if it holds a value.
template <class Value>
  requires(IsErrorCode<Value> || MayHoldErrorCode<Value>)
std::error_code error_code_in(const Value& value) noexcept {
  if constexpr (IsErrorCode<Value>)
    return error_code_of(value);
  else
    return value.has_value() ? std::error_code{} : error_code_of(value.error());
}

}  // namespace ENCORE_BUILD::detail

// What an error code says, from whatever library it comes, and where it is found.
#pragma once
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <string_view>
#include <system_error>

namespace encore ENCORE_BUILD::detail {

/// The code in a category that the standard library can translate. A library may have a category of its own for the system's
/// errors and leave them untranslated, as Asio 1.22 does: `asio::error::operation_aborted` there equals no `std::errc`. Such a
/// category is known by its name, "asio.system" say, and its numbers are the system's.
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

/// The error code that a value is, or converts to; a `std::errc` converts to none by itself.
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

/// The code that a returned value is, or holds as its error; no error if it holds a value.
template <class Value>
  requires(IsErrorCode<Value> || MayHoldErrorCode<Value>)
std::error_code error_code_in(const Value& value) noexcept {
  if constexpr (IsErrorCode<Value>)
    return error_code_of(value);
  else
    return value.has_value() ? std::error_code{} : error_code_of(value.error());
}

}  // namespace ENCORE_BUILD::detail

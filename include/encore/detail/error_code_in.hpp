// Where an error code is found in a returned value.
#pragma once
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <system_error>

namespace encore ENCORE_BUILD::detail {

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

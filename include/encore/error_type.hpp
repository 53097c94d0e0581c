// The name of an exception's type, for logs, traces and metrics.
#pragma once
#include <encore/thrown.hpp>

#include <array>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <typeinfo>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

namespace encore ENCORE_BUILD {

namespace detail {

constexpr bool is_in_identifier(char character) noexcept {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_';
}

/// A type's name without what depends on the compiler: keywords (MSVC), unnamed namespaces, and the standard library's inline
/// namespaces and ABI tags. So an exception has the same name on every platform.
inline std::string plain_type_name(std::string name) {
  constexpr std::array<std::string_view, 10> noise{"class ",
                                                   "struct ",
                                                   "enum ",
                                                   "(anonymous namespace)::",
                                                   "`anonymous namespace'::",
                                                   "`anonymous-namespace'::",
                                                   "__1::",
                                                   "__fs::",
                                                   "__cxx11::",
                                                   "[abi:cxx11]"};
  for (const auto part : noise) {
    for (auto at = name.find(part); at != std::string::npos; at = name.find(part, at)) {
      if (at > 0 && is_in_identifier(part.front()) && is_in_identifier(name[at - 1]))
        at += part.size();  // the end of a longer word
      else
        name.erase(at, part.size());
    }
  }
  return name;
}

inline std::string type_name(const std::type_info& type) {
#if __has_include(<cxxabi.h>)
  auto status = 0;
  if (char* const readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status)) {
    struct Freed {
      char* text;
      ~Freed() { std::free(text); }
    } const freed{readable};
    return plain_type_name(readable);
  }
#endif
  return plain_type_name(type.name());
}

/// The type of the exception being handled, where the platform provides it. Check for null first: libstdc++ must not be asked
/// about a thread's forced unwind or another language's exception.
inline const std::type_info* type_in_flight() noexcept {
#if defined(__cpp_exceptions) && __has_include(<cxxabi.h>)
  if (std::current_exception() != nullptr) return abi::__cxa_current_exception_type();
#endif
  return nullptr;
}

}  // namespace detail

/// The type of the exception being handled, as in OpenTelemetry's `error.type`: the dynamic type, readable, of low cardinality,
/// without any message text. `throw 42` gives "int". Without RTTI, or where the platform does not provide the type, it is
/// "std::exception", or "unknown" for types not derived from it. Call it inside the handler, like all of `Thrown`. Allocates.
///   catch (const std::exception& error) { error_type(Thrown{&error}) == "std::system_error"; }
inline std::string error_type(const Thrown& failure) {
#if defined(__cpp_rtti)
  if (failure.error() != nullptr) {
    const auto& error = *failure.error();
    return detail::type_name(typeid(error));
  }
#endif
  if (const auto* const type = detail::type_in_flight()) return detail::type_name(*type);
  return failure.error() != nullptr ? "std::exception" : "unknown";
}

namespace detail {

/// Calls `tell` with a stored exception as a `const E*`, null for other types, inside its handler. Empty for no exception.
template <class E, class Tell>
std::string told_of([[maybe_unused]] const std::exception_ptr& error, [[maybe_unused]] Tell tell) {
#if defined(__cpp_exceptions)
  if (error == nullptr) return {};
  try {
    std::rethrow_exception(error);
  } catch (const E& caught) {
    return tell(&caught);
  } catch (...) {
    return tell(nullptr);
  }
#else
  return {};
#endif
}

}  // namespace detail

/// The same for a stored exception; empty for null. It rethrows the exception, so use it only to produce text.
inline std::string error_type(const std::exception_ptr& error) {
  return detail::told_of<std::exception>(
      error, [](const std::exception* caught) { return error_type(Thrown{caught}); });
}

/// A stored exception's `what()`; empty for null and for types not derived from `std::exception`. Such text can leak host names
/// and keys: write it to a log, or give it to a model, only if that was requested. (F6, G5)
inline std::string error_text(const std::exception_ptr& error) {
  return detail::told_of<std::exception>(error, [](const std::exception* caught) {
    const char* const text = caught != nullptr ? caught->what() : nullptr;
    return text != nullptr ? text : "";
  });
}

}  // namespace encore ENCORE_BUILD

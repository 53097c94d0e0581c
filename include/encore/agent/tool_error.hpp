// A failure of a tool whose words are meant for the model.
#pragma once
#include <encore/detail/attributes.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace encore ENCORE_BUILD {

/// What a tool throws to tell the model, in its own words, why it failed: "there is no SKU A-18". The text of every other
/// exception stays hidden. It, or a type derived from it, is an exception like any other to a filter that matches it, and to a
/// never-list; the default text for the model then ends with its words. Otherwise, where a tool layer tells the model, it is the
/// tool's answer, as if the tool had returned an error result with these words. (G5)
class ToolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The words that a kept exception has for the model; empty for null and for every other exception.
inline std::string words_for_model([[maybe_unused]] const std::exception_ptr& error) {
#if defined(__cpp_exceptions)
  if (error == nullptr) return {};
  try {
    std::rethrow_exception(error);
  } catch (const ToolError& said) {
    return said.what();
  } catch (...) {
    return {};
  }
#else
  return {};
#endif
}

}  // namespace detail
}  // namespace encore ENCORE_BUILD

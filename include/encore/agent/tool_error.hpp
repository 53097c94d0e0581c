// An exception of a tool whose text is for the model.
#pragma once
#include <encore/detail/attributes.hpp>

#include <stdexcept>

namespace encore ENCORE_BUILD {

/// Thrown by a tool to tell the model, in its own words, why it failed: "there is no SKU A-18". The text of every other exception
/// stays hidden. A filter or a never-list that matches it, or a type derived from it, treats it like any other exception; the
/// default text for the model then ends with its words. Otherwise, in a tool layer that tells the model, it is the tool's answer,
/// as if the tool had returned an error result with these words. (G5)
class ToolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace encore ENCORE_BUILD

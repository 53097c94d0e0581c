// A failure of a tool whose words are meant for the model.
#pragma once
#include <encore/detail/attributes.hpp>

#include <stdexcept>

namespace encore ENCORE_BUILD {

/// What a tool throws to tell the model, in its own words, why it failed: "there is no SKU A-18". The text of every other
/// exception stays hidden. It, or a type derived from it, is an exception like any other to a filter that matches it, and to a
/// never-list; the default text for the model then ends with its words. Otherwise, where a tool layer tells the model, it is the
/// tool's answer, as if the tool had returned an error result with these words. (G5)
class ToolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace encore ENCORE_BUILD

// Why a guard of an agent's run refused a call, in words for the model and for a person.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/stop_reason.hpp>

#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A refused call or step. It has a text for each of two readers: the model gets what not to do next, without numbers; a person
/// gets which limit it was, and by how much it is exceeded.
struct Refusal {
  StopReason reason = StopReason::refused_by_guard;
  std::string to_model{};
  std::string to_person{};
  bool ends_run = false;  ///< the model should not be asked again: this guard would refuse every further call

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// The text of a refusal for the model. A guard of your own may use it.
///   not_called("search", "its call limit is reached.")  // The tool "search" was not called: its call limit is reached.
inline std::string not_called(std::string_view name, std::string_view why) {
  return (name.empty() ? "The call was not made: " : "The tool " + in_quotes(name) + " was not called: ")
      .append(why);
}

}  // namespace encore ENCORE_BUILD

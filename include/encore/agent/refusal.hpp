// Why a guard of an agent's run said no, in words for the model and for a person.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/stop_reason.hpp>

#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A call, or a step, that a guard did not let happen. The two texts are for two readers: the model is told what not to do
/// next, and no numbers; a person is told which limit, and how far over it. (langchain.md §2)
struct Refusal {
  StopReason reason = StopReason::refused_by_guard;
  std::string to_model{};
  std::string to_person{};
  bool ends_run = false;  ///< the model should not be asked again: this guard would refuse whatever comes

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// How the text for a model begins.
///   not_called("search", "its call limit is reached.")  // The tool "search" was not called: its call limit is reached.
inline std::string not_called(std::string_view name, std::string_view why) {
  return (name.empty() ? "The call was not made: " : "The tool " + in_quotes(name) + " was not called: ")
      .append(why);
}

}  // namespace encore ENCORE_BUILD

// Combines several declarations about tools.
#pragma once
#include <encore/agent/repeatable.hpp>
#include <encore/call.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/setting.hpp>

#include <optional>
#include <tuple>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// The declarations of one tool layer: `Repeatable`, `RepeatableWithKey`, `RepeatableIf`, or a type of your own in the role
/// `role::Replay` that is called with `const DeclaredCall&` and returns an `std::optional<ReplaySafety>`. Immutable.
template <class... Declaration>
class Declarations {
 public:
  /// Throws `std::invalid_argument` for a name in two lists that contradict each other.
  explicit Declarations(std::tuple<Declaration...> declarations) : declarations_{std::move(declarations)} {
    for (const auto& name : names()) {
      std::optional<ReplaySafety> before;
      for_each_list([&](const auto& list) {
        const auto declared = list(DeclaredCall{.name = name});
        if (before && declared && before != declared)
          refuse_setting("tool", shown(name),
                         "is invalid: it is declared both repeatable and repeatable with a key");
        before = shared::larger_of(before, declared);
      });
    }
  }

  /// The most careful one of the declarations about the call; `excluded` if there is none. (I1)
  ReplaySafety safety_of(const DeclaredCall& call) const {
    std::optional<ReplaySafety> found;
    [[maybe_unused]] const auto add = [&](std::optional<ReplaySafety> declared) {
      found = shared::larger_of(found, declared);
    };
    std::apply([&](const auto&... declaration) { (add(declaration(call)), ...); }, declarations_);
    return found.value_or(ReplaySafety::excluded);
  }

  /// All names in the lists, to compare with those of the existing tools.
  ToolNames names() const {
    ToolNames all;
    for_each_list([&](const auto& list) { all.insert(list.names().begin(), list.names().end()); });
    return all;
  }

 private:
  template <class Use>
  void for_each_list(const Use& use) const {
    const auto look = [&](const auto& declaration) {
      if constexpr (requires { declaration.names(); }) use(declaration);
    };
    std::apply([&](const auto&... declaration) { (look(declaration), ...); }, declarations_);
  }

  std::tuple<Declaration...> declarations_;
};

}  // namespace ENCORE_BUILD::detail

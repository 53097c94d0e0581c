// What several declarations say together of a tool.
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

/// The declarations of one tool layer: `Repeatable`, `RepeatableWithKey`, `RepeatableIf`, or a type of the user's own in the
/// role `role::Replay` that is called with `const DeclaredCall&` and returns an `std::optional<ReplaySafety>`. Immutable.
template <class... Declaration>
class Declarations {
 public:
  /// A name in two lists that contradict each other is refused with `std::invalid_argument`.
  explicit Declarations(std::tuple<Declaration...> declarations) : declarations_{std::move(declarations)} {
    for (const auto& name : names()) {
      std::optional<ReplaySafety> before;
      each_list([&](const auto& list) {
        const auto said = list(DeclaredCall{.name = name});
        if (before && said && before != said)
          refuse_setting("tool", shown(name),
                         "is invalid: it is declared repeatable, and repeatable with a key");
        before = larger_of(before, said);
      });
    }
  }

  /// Of the declarations that know the call the most careful one holds; `excluded` if none does. (I1)
  ReplaySafety safety_of(const DeclaredCall& call) const {
    std::optional<ReplaySafety> found;
    [[maybe_unused]] const auto hear = [&](std::optional<ReplaySafety> said) {
      found = larger_of(found, said);
    };
    std::apply([&](const auto&... declaration) { (hear(declaration(call)), ...); }, declarations_);
    return found.value_or(ReplaySafety::excluded);
  }

  /// All names that are listed, to be compared with those that there are.
  ToolNames names() const {
    ToolNames all;
    each_list([&](const auto& list) { all.insert(list.names().begin(), list.names().end()); });
    return all;
  }

 private:
  template <class Use>
  void each_list(const Use& use) const {
    const auto look = [&](const auto& declaration) {
      if constexpr (requires { declaration.names(); }) use(declaration);
    };
    std::apply([&](const auto&... declaration) { (look(declaration), ...); }, declarations_);
  }

  std::tuple<Declaration...> declarations_;
};

}  // namespace ENCORE_BUILD::detail

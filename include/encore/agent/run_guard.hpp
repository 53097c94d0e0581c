// Guards of an agent's run: their settings are values, their counts belong to one run.
#pragma once
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A call as the model issued it: one call, however many attempts it takes. A view.
struct IssuedCall {
  std::string_view name{};       ///< of the tool
  std::string_view arguments{};  ///< as the model wrote them, byte for byte
  std::optional<std::string_view>
      signature{};  ///< the caller's own, instead of both, for the loop detector (H6)
};

/// Settings of a guard of a run: `CallLimit`, `StepLimit`, `LoopDetector`, `SpendLimit`, or a type of your own. `using State = …`
/// names the type that counts for one run. A state is constructed from the settings and is safe to use from many threads (H8).
/// `new_run()` resets it; `save()` and `restore(text)` carry it over a restart as JSON Lines (`StateLine` writes them,
/// `saved_line` finds them; `restore` ignores the lines of others).
///
/// A state has one or more functions named `admit`, each of which returns an `std::optional<Refusal>`, or a `BatchVerdict` for a
/// batch:
///   admit()                            before a model turn
///   admit(std::span<const IssuedCall>) before any call of a model turn is made; a state that has it is not asked about single calls
///   admit(const IssuedCall&)           before each call
///   answered(call, content)            optional: what the model got for a call; if it throws, that changes nothing
/// They are asked in this order: steps, call limits (for the whole batch before any of it is made), spending, the others, then
/// the guards of attempts, such as a breaker. The first refusal is the answer, but the others are asked all the same: they count
/// what the model *issued*, and a count is not taken back because another guard refused. (H5)
template <class G>
concept RunGuard =
    std::copyable<G> && std::constructible_from<typename G::State, const G&> &&
    requires(typename G::State& state, const typename G::State& counted, std::string_view text) {
      state.new_run();
      { counted.save() } -> std::same_as<std::string>;
      state.restore(text);
    };

}  // namespace encore ENCORE_BUILD

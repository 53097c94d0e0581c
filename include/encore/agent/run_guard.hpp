// The guards of an agent's run: settings are values, what they count belongs to a run.
#pragma once
#include <encore/detail/attributes.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// A call as the model issued it: one, however many attempts it takes. A view.
struct IssuedCall {
  std::string_view name{};       ///< the tool's
  std::string_view arguments{};  ///< as the model wrote them, byte for byte
  std::optional<std::string_view>
      signature{};  ///< the caller's own, in place of the two, for the loop detector (H6)
};

/// Settings of a guard that a run is made with: `CallLimit`, `StepLimit`, `LoopDetector`, `SpendLimit`, or a type of the
/// user's own. They say with `using State = …` what counts for one run; it is made of them, safe to use from many threads (H8),
/// begins anew with `new_run()` and is carried over a restart by `save()` and `restore(text)` as JSON Lines; `restore` looks for
/// its own lines and leaves the others alone.
///
/// A state is asked through one or more functions named `admit`, each of which gives a `Refusal` or nothing (or, for a batch,
/// one answer for each call):
///   admit()                            before a model turn
///   admit(std::span<const IssuedCall>) before any call of a model turn is made; who has it is not asked about each call
///   admit(const IssuedCall&)           before each call
///   answered(call, content)            what the model was told, whoever told it; if it throws, that changes nothing
/// Whoever drives them keeps this order: steps, call limit (a batch is settled before any of it is made), spend, loop, then what
/// stands at the attempts, such as a breaker. The first refusal is the answer, but the others are asked all the same: they
/// count what the model *issued*, and a count is not given back because another guard refused. (H5, langchain.md §4)
template <class G>
concept RunGuard =
    std::copyable<G> && std::constructible_from<typename G::State, const G&> &&
    requires(typename G::State& state, const typename G::State& counted, std::string_view text) {
      state.new_run();
      { counted.save() } -> std::same_as<std::string>;
      state.restore(text);
    };

}  // namespace encore ENCORE_BUILD

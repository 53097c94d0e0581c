// The guards of one agent's run, asked in a fixed order.
#pragma once
#include <encore/agent/call_limit.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/options.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/option.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// All call limits of a run are one guard, so that they apply together.
template <class... G>
struct run_states {
  static constexpr bool has_call_limit = (std::same_as<G, CallLimit> || ...);
  using Others = join_t<std::conditional_t<std::same_as<G, CallLimit>, Options<>, Options<G>>...>;

  template <class List>
  struct of;
  template <class... O>
  struct of<Options<O...>> {
    static constexpr bool distinct = [] {
      [[maybe_unused]] constexpr auto count = []<class One>(std::type_identity<One>) {
        return (std::size_t{0} + ... + std::size_t{std::same_as<One, O>});
      };
      return ((count(std::type_identity<O>{}) == 1) && ...);
    }();
    using type = std::conditional_t<has_call_limit, std::tuple<CallCounter, typename O::State...>,
                                    std::tuple<typename O::State...>>;

    static type make(const G&... guards) {
      [[maybe_unused]] const auto given = std::tie(guards...);
      if constexpr (has_call_limit)
        return type(limits(guards...), std::get<const O&>(given)...);
      else
        return type(std::get<const O&>(given)...);
    }
  };
  static std::vector<CallLimit> limits(const G&... guards) {
    std::vector<CallLimit> all;
    const auto add = [&](const auto& guard) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(guard)>, CallLimit>) all.push_back(guard);
    };
    (add(guards), ...);
    return all;
  }
};

/// The states of a run's guards, constructed from the settings `G`. Every guard is asked about everything, even after a refusal:
/// they count what the model issued. The first refusal is the answer: of steps, then of the call limits, then of spending, then
/// of the others in the order given. Thread-safe, except `new_run` and `restore`. (H5)
template <RunGuard... G>
class RunGuards {
  using Sorted = run_states<G...>;
  using Made = typename Sorted::template of<typename Sorted::Others>;
  static_assert(
      Made::distinct,
      "a run takes one guard of each kind: only CallLimit may be given several times, for several tools");

  template <class State>
  static constexpr bool admits_batches =
      requires(State& state, std::span<const IssuedCall> calls) { state.admit(calls); };
  template <class State>
  static constexpr bool admits_calls = requires(State& state, const IssuedCall& call) { state.admit(call); };
  template <class State>
  static constexpr bool admits_steps = requires(State& state) { state.admit(); };

 public:
  explicit RunGuards(const G&... guards) : states_(Made::make(guards...)) {}
  RunGuards(const RunGuards&) = delete;
  RunGuards& operator=(const RunGuards&) = delete;

  /// Before a model turn. `SpendMeter` is asked too: a turn costs money.
  [[nodiscard]] std::optional<Refusal> admit_step() {
    std::optional<Refusal> first;
    each([&]<class State>(State& state) {
      if constexpr (admits_steps<State>) set_if_first(first, state.admit());
    });
    return first;
  }
  /// The same if the calls of the turn are asked about next: `SpendMeter`, which is asked about each of them, is not asked here.
  [[nodiscard]] std::optional<Refusal> admit_step_with_calls() {
    std::optional<Refusal> first;
    each([&]<class State>(State& state) {
      if constexpr (admits_steps<State> && !std::same_as<State, SpendMeter>)
        set_if_first(first, state.admit());
    });
    return first;
  }

  /// Before any call of a turn is made: calls that are not refused here are asked about with `admit_call`.
  [[nodiscard]] BatchVerdict admit_batch(std::span<const IssuedCall> calls) {
    BatchVerdict all{.calls = std::vector<std::optional<Refusal>>(calls.size())};
    each([&]<class State>(State& state) {
      if constexpr (admits_batches<State>) {
        BatchVerdict verdict = state.admit(calls);
        if (!all.ends_run) all.ends_run = std::move(verdict.ends_run);
        for (std::size_t i = 0; i < calls.size(); ++i)
          if (!all.calls[i]) all.calls[i] = std::move(verdict.calls[i]);
      }
    });
    return all;
  }

  /// Before each call. If the guards have `counted` it before, only `SpendMeter` is asked again. (H5)
  [[nodiscard]] std::optional<Refusal> admit_call(const IssuedCall& call, bool counted = false) {
    std::optional<Refusal> first;
    each([&]<class State>(State& state) {
      if constexpr (std::same_as<State, SpendMeter>) set_if_first(first, state.admit(call));
    });
    if (counted) return first;
    each([&]<class State>(State& state) {
      if constexpr (admits_calls<State> && !admits_batches<State> && !std::same_as<State, SpendMeter>)
        set_if_first(first, state.admit(call));
    });
    return first;
  }
  /// Notifies the guards of what the model got for a call. A guard that throws prevents neither the answer nor the notification
  /// of the others.
  void answered(const IssuedCall& call, std::string_view content) {
    each([&](auto& state) {
      if constexpr (requires { state.answered(call, content); }) {
        auto threw = StopReason::none;
        deferring_cancellation([&] { evaluate([&] { return state.answered(call, content), true; }, threw); });
      }
    });
  }

  void new_run() {
    each([](auto& state) { state.new_run(); });
  }
  std::string save() const {
    std::string text;
    const auto add = [&](const std::string& lines) {
      text += lines;
      if (!lines.empty() && lines.back() != '\n') text += '\n';
    };
    std::apply([&](const auto&... state) { (add(state.save()), ...); }, states_);
    return text;
  }
  /// Throws `std::invalid_argument` for text that `save` did not write; some guards may have been restored by then.
  void restore(std::string_view text) {
    each([&](auto& state) { state.restore(text); });
  }

  /// The state of the guard of this kind; all `CallLimit`s have one together.
  template <class Guard>
  auto& state() noexcept {
    static_assert((std::same_as<Guard, G> || ...), "this run has no such guard");
    return std::get<typename Guard::State>(states_);
  }
  template <class Guard>
  const auto& state() const noexcept {
    static_assert((std::same_as<Guard, G> || ...), "this run has no such guard");
    return std::get<typename Guard::State>(states_);
  }

 private:
  template <class Use>
  void each(const Use& use) {
    std::apply([&](auto&... state) { (use(state), ...); }, states_);
  }
  template <class Answer>
  static void set_if_first(std::optional<Refusal>& first, Answer&& answer) {
    if (!first && answer) first.emplace(*std::forward<Answer>(answer));
  }

  typename Made::type states_;
};

}  // namespace ENCORE_BUILD::detail

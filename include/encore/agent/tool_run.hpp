// One run of an agent: its tools, its limits, and the outcomes to reconcile.
#pragma once
#include <encore/agent/call_limit.hpp>
#include <encore/agent/model_text.hpp>
#include <encore/agent/money.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/refused_turns.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/tool_answers.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/as_value.hpp>
#include <encore/call.hpp>
#include <encore/detail/agent/run_admission.hpp>
#include <encore/detail/agent/run_call.hpp>
#include <encore/detail/agent/run_parts.hpp>
#include <encore/detail/agent/run_state.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/failure.hpp>
#include <encore/setting.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

/// One run of an agent with a catalog's tools. Whatever limits or failures occur, every call is answered once, in order.
///   ToolRun run{catalog, CallLimit{.run_limit = 20}, LoopDetector{.repeats = 3}, SpendLimit{usd(2)}};
///   while (!run.over()) {
///     auto turn = ask_model(conversation);
///     run.record(turn.cost);
///     conversation.append(run.handle_batch(turn.tool_calls));
///   }
/// It takes guards of a run, `RefusedTurns`, `OnUnknownOutcome` and `OnKeyReused`; it refers to the catalog. A call that ends
/// with a never-retried exception, to ask a person for instance, stays open: if it is handed in again with the same id, name and
/// arguments, also after `save` and `restore`, it continues under its key, and no limit counts it again. (H5, I2)
/// Thread-safe, except `new_run` and `restore`; no lock is held while a tool runs or a call waits. Not copyable.
template <class... G>
class ToolRun {
  using Parts = detail::RunParts<G...>;

 public:
  /// Throws `std::invalid_argument` for a call limit on a tool that the catalog does not have.
  explicit ToolRun(const ToolCatalog& catalog, const G&... parts)
      : catalog_{catalog},
        guards_(Parts::guards(parts...)),
        refused_turns_(Parts::template pick<RefusedTurns>(parts...)),
        reconcile_(Parts::template pick<typename Parts::Reconciler>(parts...)),
        key_reused_(Parts::template pick<typename Parts::KeyReuseHook>(parts...)) {
    (refuse_unknown_tool(parts), ...);
  }
  explicit ToolRun(const ToolCatalog&&,
                   const G&...) = delete;  // a temporary catalog would be gone before its calls
  ToolRun(const ToolRun&) = delete;
  ToolRun& operator=(const ToolRun&) = delete;

  /// Makes the calls of one model turn, one after another. `calls` is any range of calls, also a view. A limit with
  /// `OnLimit::throw_exception` throws `CallLimitExceeded` before any call is made; no other exception propagates: those that no
  /// policy handles are in `ToolAnswers::escaped`. `with` holds the deadline and stop token of each call.
  template <class Calls = std::initializer_list<ToolCall>>
  ToolAnswers handle_batch(Calls&& calls, const Call& with = {}) {
    return handle_batch(calls, with, [](std::size_t count, const auto& make) {
      for (std::size_t i = 0; i < count; ++i) make(i);
    });
  }
  /// The same with the calls made concurrently: `for_each(count, make)` calls `make(i)` once for each i below `count`, from any
  /// thread, and returns when all are done. The limits are checked before. What it throws propagates; the calls made so far then
  /// stay open, and their answers are lost.
  template <class Calls = std::initializer_list<ToolCall>, class ForEach>
  ToolAnswers handle_batch(Calls&& calls, const Call& with, ForEach&& for_each) {
    std::vector<ToolCall> copies;
    detail::Turn turn{state_.pending_calls(), turn_of(calls, copies)};
    const auto count = turn.calls.size();
    admission().admit(turn.calls);
    ToolAnswers answers(count);
    std::vector<std::exception_ptr> errors(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& call = turn.calls[i].run_call.call;
      answers[i] = {ToolStatus::error, not_called(call.name, "the host skipped it."), call.name, call.id};
    }
    std::vector<std::atomic<bool>> begun(count);
    const auto make = [&](std::size_t i) {
      if (begun[i].exchange(true)) return;  // called twice for one call
      answers[i] = answer(turn.calls[i], shared_by_all(with), errors[i]);
    };
    static_assert(!detail::Deferred<std::invoke_result_t<ForEach&, std::size_t, decltype(make)&>>,
                  "this for_each returns a coroutine or future that is never awaited: it must return only "
                  "when every call is made");
    for_each(count, make);
    for (std::size_t i = 0; i < count; ++i) {
      auto& call = turn.calls[i];
      if (begun[i] || !call.may_have_been_made()) continue;  // it may have been made before (I3)
      if (!call.refusal) call.refusal.emplace(Refusal{.to_model = std::move(answers[i].content)});
      make(i);
    }
    admission().ended(turn.calls, refused_turns_);
    for (std::size_t i = 0; i < count; ++i) {
      turn.calls[i].answered = errors[i] == nullptr;
      if (errors[i] != nullptr) answers.escaped.push_back({i, errors[i]});
    }
    return answers;
  }

  /// Makes a call that is a whole model turn. Throws `CallLimitExceeded` as above, and what the tool's policy propagates. (B3)
  template <ToolCallLike C>
  ToolResult handle(const C& call, const Call& with = {}) {
    const auto& own = detail::as_tool_call(call);
    std::vector<detail::TurnCall> calls;
    calls.push_back({.run_call = detail::RunCall::of(catalog_, own)});
    detail::Turn turn{state_.pending_calls(), std::move(calls)};
    auto& only = turn.calls.front();
    admission().admit(turn.calls);
    std::exception_ptr error;
    auto result = answer(only, with, error);
    admission().ended(turn.calls, refused_turns_);
#if defined(__cpp_exceptions)
    if (error != nullptr) std::rethrow_exception(error);
#endif
    only.answered = true;
    return result;
  }

  /// Before the model is asked: counts the step, to which the next turn's calls belong. A refusal ends the run: do not ask the
  /// model again. Without this call every turn with calls counts as a step.
  [[nodiscard]] std::optional<Refusal> begin_step() { return admission().begin_step(); }

  /// Why the run is over, if it is. Then every further call is refused with an answer.
  std::optional<Refusal> over() const { return state_.over(); }

  /// Adds a cost to the run's spending, before or after the fact: of the model, of a tool, of a failed attempt. (H7)
  void record(Money cost) { guards_.template state<SpendLimit>().record(cost); }
  Money spent() const { return guards_.template state<SpendLimit>().spent(); }

  /// The failed calls that may have had their effect, until they are taken from the list. (I3)
  UnknownOutcomes& unknown_outcomes() noexcept { return state_.unknown_outcomes(); }
  /// The scope of this run, which is part of the keys of its attempts. (I2)
  const Scope& scope() const noexcept { return state_.scope(); }
  /// The state of a guard of this run: `run.guard<CallLimit>().counts()`.
  template <class Guard>
  auto& guard() noexcept {
    return guards_.template state<Guard>();
  }

  /// Starts a new run: resets the run's counts, with a new scope; those of its thread of conversation continue, and outcomes to
  /// reconcile stay. (H5)
  void new_run() {
    guards_.new_run();
    state_.new_run();
  }
  /// All that another process needs to continue this run, as JSON Lines: counts, scope and keys. If it is saved during a turn,
  /// from its `for_each` or from a tool, that turn can be made again: no limit counts it twice, each call has its key, and a tool
  /// that runs once is not called again, because its outcome is unknown. (I1, I2)
  std::string save() const {
    const std::lock_guard lock{state_.counting()};
    return state_.save() + guards_.save();
  }
  /// Restores what a run with the same guards saved. Throws `std::invalid_argument` for other text, and changes nothing then.
  void restore(std::string_view text) {
#if defined(__cpp_exceptions)
    const auto before = guards_.save();
    try {
#endif
      guards_.restore(text);
      state_.restore(text);
#if defined(__cpp_exceptions)
    } catch (...) {
      guards_.restore(before);
      throw;
    }
#endif
  }

 private:
  template <class Guard>
  void refuse_unknown_tool([[maybe_unused]] const Guard& guard) const {
    if constexpr (std::same_as<Guard, CallLimit>) {
      if (!guard.tool) return;
      const auto* const tool = catalog_.tool(*guard.tool);
      if (tool == nullptr || tool->description().name != *guard.tool)
        refuse_setting("tool", in_quotes(*guard.tool), "is invalid: the catalog has no tool of this name");
    }
  }

  // Calls in other ranges are copied: a view may create each one when it is read.
  template <class Calls>
  static constexpr bool is_contiguous =
      std::contiguous_iterator<decltype(std::begin(std::declval<Calls&>()))> &&
      std::same_as<std::remove_cvref_t<decltype(*std::begin(std::declval<Calls&>()))>, ToolCall>;
  template <class Calls>
  std::vector<detail::TurnCall> turn_of(Calls& calls, std::vector<ToolCall>& copies) const {
    std::vector<detail::TurnCall> turn;
    if constexpr (is_contiguous<Calls>) {
      for (const auto& call : calls) turn.push_back({.run_call = detail::RunCall::of(catalog_, call)});
    } else {
      for (auto&& call : calls) copies.push_back(detail::as_tool_call(call));
      for (const auto& call : copies) turn.push_back({.run_call = detail::RunCall::of(catalog_, call)});
    }
    return turn;
  }
  // Names, keys and refusals belong to one call.
  static Call shared_by_all(const Call& with) noexcept {
    return {.deadline = with.deadline, .stop = with.stop, .outer = with.outer};
  }

  detail::RunAdmission<typename Parts::Guards> admission() noexcept { return {guards_, state_}; }

  // ---- answers -----------------------------------------------------------------------------------------------------

  ToolResult answer(detail::TurnCall& call, const Call& with) {
    admission().admit(call);
    const detail::RunCaller caller{state_, reconcile_, key_reused_};
    auto result = caller.answer(call, with);
    call.reason = result.reason;
    guards_.answered(call.run_call.issued, result.content);
    return result;
  }
  /// The same, but an exception does not prevent the other calls from being answered. (B3)
  ToolResult answer(detail::TurnCall& call, const Call& with, [[maybe_unused]] std::exception_ptr& escaped) {
#if defined(__cpp_exceptions)
    try {
#endif
      return answer(call, with);
#if defined(__cpp_exceptions)
    } catch (...) {
      escaped = std::current_exception();
      if (escaped == nullptr) throw;  // a thread's forced unwind (B4)
    }
    call.escaped = true;
    const auto& report = call.report;
    const Failure failure{
        .call_id = call.run_call.call.id,
        .call_name = call.run_call.call.name,
        .reason = report.interrupt ? StopReason::never_retry_type : StopReason::not_retryable,
        .attempts = report.attempts,
        .error = escaped,
        .outcome_unknown = report.outcome.unknown};
    auto result = detail::error_result_of(failure, tell_model(failure));
    call.reason = result.reason;
    if (!report.interrupt) guards_.answered(call.run_call.issued, result.content);
    return result;
#endif
  }

  const ToolCatalog& catalog_;
  typename Parts::Guards guards_;
  RefusedTurns refused_turns_;
  typename Parts::Reconciler reconcile_;
  typename Parts::KeyReuseHook key_reused_;
  detail::RunState state_;
};

template <class... G>
ToolRun(const ToolCatalog&, G...) -> ToolRun<G...>;

}  // namespace encore ENCORE_BUILD

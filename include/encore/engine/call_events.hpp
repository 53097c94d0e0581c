// The events of a call, and when the policy's observers are notified of them.
#pragma once
#include <encore/call.hpp>
#include <encore/clock.hpp>
#include <encore/decision.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/call_frame.hpp>
#include <encore/engine/deferred.hpp>
#include <encore/engine/deferred_cancellation.hpp>
#include <encore/engine/name_by.hpp>
#include <encore/engine/observed_call.hpp>
#include <encore/engine/options_check.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/event.hpp>
#include <encore/predicate.hpp>
#include <encore/returned.hpp>
#include <encore/stop_reason.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// An observer, as a policy sees it.
template <class O>
struct NotifiedObserver {
  static_assert(std::invocable<std::remove_cvref_t<O>&, const Event&>,
                "this observer does not satisfy encore::Observer: it is called with `const encore::Event&`");
  static_assert(!Deferred<std::invoke_result_t<std::remove_cvref_t<O>&, const Event&>>,
                "this observer returns a coroutine or future that nobody awaits, so it would hear of "
                "nothing: do the work in the call, or hand it to somebody who waits for it");
};
template <class Seen>
inline constexpr bool keeps_promise<Seen, role::Observer> = std::invocable<Seen&, const Event&>;

/// Notifies one observer; its exception is counted and does not propagate. A thread's forced unwind passes. (B4, F3)
template <class O>
ENCORE_FORCE_INLINE void notify_one(O& observer, const Event& event, [[maybe_unused]] int& errors) {
#if defined(__cpp_exceptions)
  if constexpr (!noexcept(observer(event))) {
    try {
      observer(event);
    } catch (...) {
      if (std::current_exception() == nullptr) throw;
      ++errors;
    }
    return;
  } else
#endif
    observer(event);
}

/// Notifies a pack of observers in order.
template <std::size_t... I, class... O>
ENCORE_FORCE_INLINE void notify_each(const Places<std::index_sequence<I...>, O...>& observers,
                                     const Event& event, int& errors) {
  (notify_one(at<I>(observers).get(), event, errors), ...);
}

/// Notifies every observer of a policy, and counts those that threw.
template <class Policy>
ENCORE_FORCE_INLINE void notify(const Policy& policy, const Event& event, int& errors) {
  notify_each(policy.observers(), event, errors);
}

/// An event of a call; what depends on its kind is still to be filled in. Before the first failure there may be no frame.
template <class Policy>
ENCORE_FORCE_INLINE Event event_of(const Policy& policy, EventKind kind, int ordinal, const Call& call,
                                   const TimeLimits& limits, std::optional<TimePoint>& started,
                                   const CallFrame* frame = nullptr) noexcept {
  return {.kind = kind,
          .ordinal = ordinal,
          .call_name = call.name,
          .resolved_name = call.resolved_name,
          .notes = frame != nullptr ? &frame->notes : nullptr,
          .run_scope = call.scope,
          .id = call.id,
          .current = frame != nullptr ? &frame->current : nullptr,
          .max_retries = call.runs_once() ? shared::larger_of(ordinal, 1) - 1 : policy.max_retries(),
          .inner_attempts = policy.inner_attempts(),
          .limits = &limits,
          .now = Now{policy.clock()},
          .started = &started};
}

/// What the caller gets of a call that ended so.
template <class Policy>
constexpr TerminalMode mode_of(StopReason reason, bool by_exception) noexcept {
  if (reason == StopReason::succeeded) return TerminalMode::result;
  if (Policy::rethrows || !CallRecord<Policy>::strategy_handles(reason))
    return by_exception ? TerminalMode::exception : TerminalMode::result;
  return Policy::FailureStrategyType::mode;
}

/// A call whose policy has observers: they are notified of it.
template <class Policy>
  requires(Policy::observed)
class ObservedCall<Policy> : public CallRecord<Policy> {
  using Record = CallRecord<Policy>;

 public:
  using Record::attempts, Record::call;

  // Of a call without a failure, which has no record: `frame`, if it has one.
  template <class... Frame>
  ENCORE_FORCE_INLINE static void notify_first_started(const Policy& policy, const Call& call,
                                                       std::optional<TimePoint>& started, int& errors,
                                                       const Frame&... frame) {
    notify_first(policy, EventKind::attempt_started, call, started, errors, frame...);
  }
  template <class... Frame>
  ENCORE_FORCE_INLINE static void notify_first_succeeded(const Policy& policy, const Call& call,
                                                         std::optional<TimePoint>& started, int& errors,
                                                         const Frame&... frame) {
    notify_first(policy, EventKind::attempt_succeeded, call, started, errors, frame...);
    notify_first(policy, EventKind::call_finished, call, started, errors, frame...);
  }

 protected:
  using Record::frame_, Record::observer_errors_, Record::outcome_, Record::outer, Record::policy_,
      Record::reason_, Record::slept_, Record::started_;
  using Record::Record;
  ~ObservedCall() = default;

  void notify_started() { notify(policy_, event_of(EventKind::attempt_started), observer_errors_); }
  void notify_succeeded() {
    auto event = event_of(EventKind::attempt_succeeded);
    event.reason = StopReason::succeeded;
    notify(policy_, event, observer_errors_);
  }
  void notify_failed(const Decision& next, const std::optional<Duration>& hint, const Thrown* thrown) {
    auto event = event_of(EventKind::attempt_failed);
    event.will_retry = next.goes_on();
    if (call().runs_once() && next.goes_on()) ++event.max_retries;  // it did not run (I1)
    event.reason = next.stop;
    event.wait = next.wait;
    event.hint = hint;
    blame(event, thrown);
    notify_undisturbed(event);
  }
  void notify_finished(const Thrown* thrown) {
    notify_finished(mode_of<Policy>(reason_, thrown != nullptr || attempts() == 0), thrown);
  }
  /// The same outside the handler of the last exception, if there was one.
  void notify_finished([[maybe_unused]] const std::exception_ptr& error) {
#if defined(__cpp_exceptions)
    if (error != nullptr) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& caught) {
        const Thrown thrown{&caught};
        return notify_finished(&thrown);
      } catch (...) {
        const Thrown thrown{nullptr};
        return notify_finished(&thrown);
      }
    }
#endif
    notify_finished(static_cast<const Thrown*>(nullptr));
  }
  void notify_finished(TerminalMode mode, const Thrown* thrown) {
    auto event = event_of(EventKind::call_finished);
    event.reason = reason_;
    event.mode = mode;
    event.slept = slept_;
    event.observer_errors = observer_errors_;
    event.outcome_unknown = outcome_.unknown;
    event.lost_request_id = outcome_.request_id.view();
    blame(event, thrown);
    if (thrown != nullptr)
      notify_undisturbed(event);
    else
      notify(policy_, event, observer_errors_);
  }
  /// The call was abandoned: it has no result.
  void notify_abandoned() { notify_finished(TerminalMode::none, nullptr); }

 private:
  ENCORE_FORCE_INLINE static void notify_first(const Policy& policy, EventKind kind, const Call& call,
                                               std::optional<TimePoint>& started, int& errors,
                                               const CallFrame& frame) {
    notify_first(policy, detail::event_of(policy, kind, 1, call, frame.limits, started, &frame), errors);
  }
  ENCORE_FORCE_INLINE static void notify_first(const Policy& policy, EventKind kind, const Call& call,
                                               std::optional<TimePoint>& started, int& errors) {
    const auto limits = limits_of(policy, call, started);
    notify_first(policy, detail::event_of(policy, kind, 1, call, limits, started), errors);
  }
  ENCORE_FORCE_INLINE static void notify_first(const Policy& policy, Event&& event, int& errors) {
    const auto kind = event.kind;
    if (kind != EventKind::attempt_started) event.reason = StopReason::succeeded;
    if (kind == EventKind::call_finished) {
      event.mode = TerminalMode::result;
      event.observer_errors = errors;
    }
    notify(policy, event, errors);
  }
  // Perhaps in the handler of the attempt's exception.
  void notify_undisturbed(const Event& event) {
    deferring_cancellation([&] { notify(policy_, event, observer_errors_); });
  }
  Event event_of(EventKind kind) noexcept {
    return detail::event_of(policy_, kind, attempts(), call(), frame_.limits, started_, &frame_);
  }
  void blame(Event& event, const Thrown* thrown) const {
    event.thrown = thrown;
    event.outer = outer();
    if (thrown != nullptr) event.error_name = name_by(policy_.predicate(), *thrown);
  }
};

}  // namespace ENCORE_BUILD::detail

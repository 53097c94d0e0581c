// The fast way through a call: the loop that one would have written by hand, and everything else out of line.
#pragma once
#include <encore/attributes.hpp>
#include <encore/call_frame.hpp>
#include <encore/driver.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/late_state.hpp>
#include <encore/operation.hpp>
#include <encore/plain_retries.hpp>
#include <encore/predicate.hpp>
#include <encore/verdict.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore::detail {

/// Stands where no frame is needed.
struct NoFrame {
  NoFrame(auto&&...) noexcept {}
};

/// The one exception type that a predicate matches, if it is that simple.
template <class P>
struct only_type : std::type_identity<void> {};
template <class E>
struct only_type<RetryOn<E>> : std::type_identity<E> {};

/// Drives one call of `F` with arguments `A`, for policies that rethrow and have nothing to ask before the first attempt.
template <class Policy, class R, class F, class... A>
class StraightRun {
  static constexpr bool observed = Policy::observed;
  static constexpr bool judged = Results<Policy, R>::judged;
  static constexpr bool with_attempt = takes_attempt<F, A...>;
  // Somebody may look at the attempt before it has failed.
  static constexpr bool framed = with_attempt || (judged && Policy::reads_call);
  using Frame = std::conditional_t<framed, CallFrame, NoFrame>;
  static constexpr bool plain = !framed && !observed && !Policy::reads_call;
  using Late = std::conditional_t<plain, PlainRetries<Policy>, LateState<Policy>>;
  // Where nobody has to be told of the others, the one type that is retried is all that is caught, as by hand.
  using Only = typename only_type<typename Policy::PredicateType>::type;
  static constexpr bool ignores_exceptions =
      plain && judged && !JudgesExceptions<typename Policy::PredicateType>;
  static constexpr bool catches_only = !observed && !judged && !Policy::reads_call && !std::is_void_v<Only>;

 public:
  /// A call that brings limits of its own goes the general way, as does one whose id has to be made for somebody to see.
  ENCORE_FORCE_INLINE static constexpr bool may_start(const Policy& policy, const Call& call) noexcept {
    if constexpr (Policy::has_time_budget && !plain) {
      if (policy.time_budget() == Duration::zero()) return false;  // expired on entry
    }
    return !call.limits_itself() &&
           (framed || !Policy::reads_call || (!call.id.empty() && call.operation_key.empty()));
  }

  ENCORE_FORCE_INLINE static R run(const Policy& policy, const Call& call, F& callable, A&... args) {
    [[maybe_unused]] std::optional<TimePoint> started;
    if constexpr (plain && Policy::has_time_budget) {
      if (policy.time_budget() == Duration::zero()) [[unlikely]]
        expired_on_entry(call.id.data(), call.id.size(), call.name.data(), call.name.size());
    } else if constexpr (Policy::has_time_budget) {
      if (policy.time_budget()) started = policy.clock().now();
    }
    [[maybe_unused]] Frame frame{call, limits_of(policy, call, started), Now{policy.clock()}};
    [[maybe_unused]] int errors = 0;
    [[maybe_unused]] auto returned = false;
    Late late{policy};

    if constexpr (observed) tell(policy, EventKind::attempt_started, call, frame, started, errors);
    if constexpr (requires { policy.clock().attempt_started(); }) policy.clock().attempt_started();
    for (;;) {
      if constexpr (ignores_exceptions) {
        R result = attempt(callable, frame, args...);
        const auto verdict = judge_value(policy, Returned<std::remove_cvref_t<R>>{result, FailedAttempt{}});
        if (verdict == StopReason::succeeded || !found_here(late).waited_after(result, verdict))
          return static_cast<R&&>(result);
        continue;
      }
#if defined(__cpp_exceptions)
      if constexpr (catches_only) {
        try {
          return attempt(callable, frame, args...);
        } catch (const Only& error) {
          if (!threw(late, &error, call, frame, started, errors)) throw;
        }
        wait(late);
        continue;
      }
      try {
#endif
        if constexpr (judged) {
          R result = attempt(callable, frame, args...);
          returned = true;
          const auto known = what_is_known(frame);
          const auto verdict = judge_value(policy, Returned<std::remove_cvref_t<R>>{result, known});
          if (verdict == StopReason::succeeded) [[likely]] {
            if constexpr (observed) succeeded(policy, late, call, frame, started, errors);
            return static_cast<R&&>(result);
          }
          // The value is kept for as long as the wait.
          if (!waited_after(late, result, verdict, frame, started, errors)) return static_cast<R&&>(result);
          returned = false;
          continue;
        } else if constexpr (!observed) {
          return attempt(callable, frame, args...);
        } else if constexpr (std::is_void_v<R>) {
          attempt(callable, frame, args...);
          returned = true;
          return succeeded(policy, late, call, frame, started, errors);
        } else if constexpr (Results<Policy, R>::movable) {
          R result = attempt(callable, frame, args...);
          returned = true;
          succeeded(policy, late, call, frame, started, errors);
          return static_cast<R&&>(result);
        } else {
          const OnReturn told{[&] {
            returned = true;
            succeeded(policy, late, call, frame, started, errors);
          }};
          return attempt(callable, frame, args...);
        }
#if defined(__cpp_exceptions)
      } catch (const std::exception& error) {
        if (returned || !threw(late, &error, call, frame, started, errors)) throw;
      } catch (...) {
        if (returned || !threw(late, nobody_knows, call, frame, started, errors)) throw;
      }
      wait(late);
#endif
    }
  }

 private:
  static constexpr const std::exception* nobody_knows =
      nullptr;  // no `catch (const std::exception&)` caught it

  ENCORE_FORCE_INLINE static R attempt(F& callable, [[maybe_unused]] Frame& frame, A&... args) {
    if constexpr (with_attempt)
      return detail::invoke(callable, args..., std::as_const(frame.attempt));
    else
      return detail::invoke(callable, args...);
  }
  ENCORE_FORCE_INLINE static FailedAttempt what_is_known([[maybe_unused]] const Frame& frame) noexcept {
    if constexpr (framed)
      return {frame.attempt.ordinal, &frame.current, &frame.notes};
    else
      return {};
  }

  [[noreturn]] ENCORE_COLD static void expired_on_entry(const char* id, std::size_t id_size, const char* name,
                                                        std::size_t name_size) {
    const Call call{.id = {id, id_size}, .name = {name, name_size}};
    refuse_call(StopReason::expired_on_entry, CurrentCall{call});
  }

  // Events of a first attempt, before there is a state to tell them.
  ENCORE_FORCE_INLINE static void tell(const Policy& policy, EventKind kind, const Call& call,
                                       [[maybe_unused]] const Frame& frame, std::optional<TimePoint>& started,
                                       int& errors) {
    const auto over = kind == EventKind::call_finished;
    Event event{.kind = kind,
                .ordinal = 1,
                .call_name = call.name,
                .resolved_name = call.resolved_name,
                .reason = kind == EventKind::attempt_started ? StopReason::none : StopReason::succeeded,
                .mode = over ? TerminalMode::result : TerminalMode::none,
                .observer_errors = over ? errors : 0,
                .run_scope = call.scope,
                .id = call.id,
                .max_retries = policy.max_retries(),
                .inner_attempts = policy.inner_attempts(),
                .now = Now{policy.clock()},
                .started = &started};
    if constexpr (framed) {
      event.notes = &frame.notes;
      event.current = &frame.current;
      event.limits = &frame.limits;
      detail::tell(policy, event, errors);
    } else {
      const auto limits = limits_of(policy, call, started);
      event.limits = &limits;
      detail::tell(policy, event, errors);
    }
  }
  ENCORE_FORCE_INLINE static void succeeded(const Policy& policy, Late& late, const Call& call,
                                            const Frame& frame, std::optional<TimePoint>& started,
                                            int& errors) {
    if (late.made()) return late.succeeded();
    tell(policy, EventKind::attempt_succeeded, call, frame, started, errors);
    tell(policy, EventKind::call_finished, call, frame, started, errors);
  }

  // Without a limit of time nothing can end the call in its wait.
  ENCORE_FORCE_INLINE static void wait(Late& late) {
    auto& found = found_here(late);
    if constexpr (Policy::has_time_budget && !plain) {
      if (!found.wait()) std::rethrow_exception(found.error());
    } else {
      found.wait();
    }
  }

  // Inside the handler: does another attempt follow?
  template <class Error>
  ENCORE_FORCE_INLINE static bool threw([[maybe_unused]] Late& late, [[maybe_unused]] const Error* error,
                                        [[maybe_unused]] const Call& call, [[maybe_unused]] Frame& frame,
                                        [[maybe_unused]] const std::optional<TimePoint>& started,
                                        [[maybe_unused]] int errors) {
#if defined(__cpp_exceptions)
    auto& found = found_here(late);
    if constexpr (plain)
      return found.threw(error);
    else if constexpr (framed)
      return found.threw(error, started, errors, frame);
    else
      return found.threw(error, started, errors, call.id.data(), call.id.size(), call.name.data(),
                         call.name.size(), call.resolved_name.data(), call.resolved_name.size(), call.scope);
#else
    return false;
#endif
  }
  // Waits after a value that is a failure. Answers false if it was the last.
  template <class Value>
  ENCORE_FORCE_INLINE static bool waited_after(Late& late, const Value& value, StopReason verdict,
                                               [[maybe_unused]] Frame& frame,
                                               [[maybe_unused]] const std::optional<TimePoint>& started,
                                               [[maybe_unused]] int errors) {
    auto& found = found_here(late);
    if constexpr (plain)
      return found.waited_after(value, verdict);
    else
      return found.returned_failure(value, verdict, started, errors, frame) && found.wait();
  }
};

}  // namespace encore::detail

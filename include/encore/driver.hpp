// The synchronous driver: a thin loop around the decision, on a thread that sleeps.
#pragma once
#include <encore/attributes.hpp>
#include <encore/nesting.hpp>
#include <encore/observer.hpp>
#include <encore/operation.hpp>
#include <encore/outcome.hpp>
#include <encore/refused.hpp>
#include <encore/retrying.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore::detail {

/// Ends the program where a refusal would have to be thrown and cannot be. (L3)
[[noreturn]] inline void refuse_call(StopReason reason, [[maybe_unused]] const CurrentCall& call) {
#if defined(__cpp_exceptions)
  throw Refused{reason, call.id(), call.name()};
#else
  refuse_setting("call", to_string(reason), "cannot be thrown without exceptions");
#endif
}

/// Runs `done` when it is destroyed, unless by an exception: for results that cannot be moved out of the way first.
template <class Done>
struct OnReturn {
  Done done;
  int unwinding = std::uncaught_exceptions();
  ~OnReturn() noexcept(false) {
    if (std::uncaught_exceptions() == unwinding) done();
  }
};

/// Drives one call of a callable that returns `R`.
template <class Policy, class R>
class Driver {
  using Strategy = typename Policy::FailureStrategyType;
  using Value = std::remove_cvref_t<R>;

 public:
  using Result = typename Strategy::template result<R>;
  /// Does the predicate look at this result?
  static constexpr bool judges_result = [] {
    if constexpr (std::is_void_v<R>)
      return false;
    else
      return JudgesValues<typename Policy::PredicateType, Value>;
  }();
  static_assert(std::is_void_v<R> || judges_result || !looks_at_values<typename Policy::PredicateType>,
                "this policy's predicate looks at returned values, but not at what this callable returns");
  static_assert(!judges_result || std::is_reference_v<R> || std::move_constructible<R>,
                "a predicate on returned values needs a result that can be moved");
  static_assert(Policy::rethrows || std::is_void_v<R> || std::is_reference_v<R> || std::same_as<Result, R> ||
                    std::move_constructible<R>,
                "this failure strategy needs a result that can be moved");

  /// From the first attempt on.
  static Result run(const Policy& policy, const Call& call, Operation<R> operation) {
    const CurrentCall current{call};
    Retrying<Policy> retrying{policy, current};
    const auto first = retrying.begin();
    if (first.goes_on()) return loop(policy, retrying, operation, std::nullopt);
    if constexpr (Policy::rethrows)
      refuse_call(first.stop, current);
    else
      return policy.failure_strategy().template failed<R>(retrying.failure());
  }

  /// Attempts until the decision says stop; `next` is what it said of the attempt before, if there was one.
  static Result loop(const Policy& policy, Retrying<Policy>& retrying, Operation<R> operation,
                     std::optional<Decision> next) {
    for (;;) {
      if (next && !(next = wait(policy, retrying, *next))->goes_on()) return give_up(policy, retrying);
      // Nobody has to be told how the last one ends, and whatever it throws leaves: no handler, no second throw.
      if constexpr (nobody_listens && !judges_result) {
        if (retrying.is_last()) return operation(retrying.attempt());
      }
      [[maybe_unused]] auto returned = false;
#if defined(__cpp_exceptions)
      try {
#endif
        if constexpr (judges_result) {
          R result = attempt(policy, retrying, operation);
          returned = true;
          next = retrying.returned(std::as_const(result));
          if (next->goes_on())
            next = wait(policy, retrying, *next);  // the value is kept for as long as the wait
          if (!next->goes_on()) return settle(policy, retrying, next->stop, std::forward<R>(result));
          next.reset();
          continue;
        } else if constexpr (std::is_void_v<R>) {
          attempt(policy, retrying, operation);
          returned = true;
          retrying.succeeded();
          if constexpr (std::is_void_v<Result>)
            return;
          else
            return Result{figures(retrying)};
        } else if constexpr (std::is_reference_v<R> || std::move_constructible<R>) {
          R result = attempt(policy, retrying, operation);
          returned = true;
          retrying.succeeded();
          return deliver(retrying, std::forward<R>(result));
        } else {
          const OnReturn told{[&] {
            returned = true;
            retrying.succeeded();
          }};
          return attempt(policy, retrying, operation);
        }
#if defined(__cpp_exceptions)
      } catch (const std::exception& error) {
        if (returned) throw;
        next = retrying.threw(&error);
        if (leaves(*next)) throw;
      } catch (...) {
        if (returned) throw;
        if (std::current_exception() == nullptr) {
          retrying.unwound();
          throw;
        }
        next = retrying.threw(nullptr);
        if (leaves(*next)) throw;
      }
      if (!next->goes_on()) return give_up(policy, retrying);
#endif
    }
  }

 private:
  static constexpr bool nobody_listens = Policy::rethrows && !Policy::observed && !Policy::guarded &&
                                         !Policy::notices_nesting && !Policy::prepares_retries;

  static R attempt(const Policy& policy, Retrying<Policy>& retrying, Operation<R> operation) {
    const auto& attempt = retrying.attempt();
    [[maybe_unused]] const std::conditional_t<Policy::notices_nesting, AttemptMark,
                                              std::tuple<const Attempt&>> mark{attempt};
    if constexpr (Policy::prepares_retries) {
      if (attempt.ordinal > 1) prepare(policy.before_retry().prepare, attempt);
    }
    return operation(attempt);
  }
  template <class Prepare>
  static void prepare(const Prepare& prepare, const Attempt& attempt) {
    if constexpr (std::invocable<const Prepare&, const Attempt&>)
      prepare(attempt);
    else
      prepare();
  }

  static Decision wait(const Policy& policy, Retrying<Policy>& retrying, const Decision& next) {
    if (next.wait > Duration::zero()) policy.clock().sleep_for(next.wait, retrying.call().call().stop);
    return retrying.resume();
  }

  static bool leaves(const Decision& next) noexcept {
    return !next.goes_on() && (Policy::rethrows || !Retrying<Policy>::answered_for(next.stop));
  }

  static CallFigures figures(const Retrying<Policy>& retrying) {
    return {retrying.reason(), retrying.attempts(), retrying.elapsed(), retrying.slept(),
            retrying.observer_errors()};
  }
  // The callable's own result, untouched or inside an outcome.
  template <class V>
  static Result deliver(const Retrying<Policy>& retrying, V&& value) {
    if constexpr (std::same_as<Result, R>)
      return static_cast<R&&>(value);
    else
      return Result{std::forward<V>(value), figures(retrying)};
  }
  template <class V>
  static Result settle(const Policy& policy, const Retrying<Policy>& retrying, StopReason stop, V&& value) {
    if constexpr (!Policy::rethrows) {
      if (Retrying<Policy>::answered_for(stop))
        return policy.failure_strategy().template failed<R>(retrying.failure(), std::forward<V>(value));
    }
    return deliver(retrying, std::forward<V>(value));
  }
  // After an exception that did not leave from its handler.
  static Result give_up(const Policy& policy, const Retrying<Policy>& retrying) {
    if constexpr (Policy::rethrows)
      std::rethrow_exception(retrying.error());
    else
      return policy.failure_strategy().template failed<R>(retrying.failure());
  }
};

/// A call whose first attempt ran before anything was set up for it: made in the place kept for it when that attempt failed.
/// What crosses is taken apart into scalars: an aggregate would be built in memory before every first attempt.
template <class Policy>
class LateCall {
 public:
  LateCall() noexcept {}
  LateCall(const LateCall&) = delete;
  LateCall& operator=(const LateCall&) = delete;
  ~LateCall() {}

#if defined(__cpp_exceptions)
  /// In the handler of the first attempt's exception: does another attempt follow? If not, the exception leaves.
  template <class... Started>
  ENCORE_COLD bool threw(const Policy& policy, const std::exception* error, int observer_errors,
                         const char* id, std::size_t id_size, const char* name, std::size_t name_size,
                         const char* resolved, std::size_t resolved_size, Started... started) {
    auto& made = make(
        policy, {.id = {id, id_size}, .name = {name, name_size}, .resolved_name = {resolved, resolved_size}},
        {std::optional<TimePoint>{started...}, observer_errors});
    return decide(made, error);
  }
  /// The same where nobody looks at the call.
  template <class... Started>
  ENCORE_COLD bool threw(const Policy& policy, const std::exception* error, Started... started) {
    return decide(make(policy, {}, {std::optional<TimePoint>{started...}, 0}), error);
  }
#endif
  /// The first attempt returned a failure that the predicate matched.
  template <class Value>
  ENCORE_COLD Decision returned(const Policy& policy, const Value& value, const Call& call,
                                std::optional<TimePoint> started, int observer_errors) {
    next_ = make(policy, call, {started, observer_errors}).retrying.returned(value);
    return next_;
  }

  /// The attempts after the first.
  template <class R>
  ENCORE_COLD typename Driver<Policy, R>::Result go_on(const Policy& policy, Operation<R> operation) {
    const End end{*this};
    return Driver<Policy, R>::loop(policy, made_.retrying, operation, next_);
  }
  void end() noexcept { std::destroy_at(&made_); }

 private:
  struct Made {
    Call call;
    CurrentCall current;
    Retrying<Policy> retrying;
    Made(const Policy& policy, const Call& given,
         const typename Retrying<Policy>::FirstAttemptUnderWay& first)
        : call{given},
          current{call},
          retrying{policy, current, first} {}
  };
  struct End {
    LateCall& late;
    ~End() { late.end(); }
  };
  Made& make(const Policy& policy, const Call& call,
             const typename Retrying<Policy>::FirstAttemptUnderWay& first) {
    return *::new (static_cast<void*>(&made_)) Made{policy, call, first};
  }
#if defined(__cpp_exceptions)
  bool decide(Made& made, const std::exception* error) {
    struct Unless {
      LateCall* late;
      ~Unless() {
        if (late != nullptr) late->end();
      }
    } ending{this};
    if (error == nullptr && std::current_exception() == nullptr) {
      made.retrying.unwound();
      return false;
    }
    next_ = made.retrying.threw(error);
    if (!next_.goes_on()) return false;
    ending.late = nullptr;
    return true;
  }
#endif
  union {
    Made made_;
  };
  Decision next_;
};

}  // namespace encore::detail

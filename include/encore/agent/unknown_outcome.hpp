// Failed calls that may have had their effect, to be reconciled.
#pragma once
#include <encore/as_value.hpp>
#include <encore/error_type.hpp>
#include <encore/event.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// What is known about such a call. It does not contain the arguments: the host finds them by the call's id and signature. (F6,
/// I3)
struct UnknownOutcome {
  std::string call_id{};
  std::string call_name{};
  std::string resolved_name{};    ///< empty if no tool layer resolved the name
  std::string idempotency_key{};  ///< by which the other side knows the call, if one was sent (I2)
  std::string request_id{};       ///< of the latest unanswered request, if one was noted
  std::string signature{};        ///< `CallSignature::text`; empty if no tool layer made the call
  int attempts = 0;
  std::string error_type{};    ///< empty if a returned value failed
  std::exception_ptr error{};  ///< the last exception; null for a value, or after a restart

  friend bool operator==(const UnknownOutcome&, const UnknownOutcome&) = default;
};

/// An observer that reports every unknown outcome, before the caller gets the failure. Calls that are harmless to repeat have no
/// unknown outcome. Like any observer it changes nothing if it throws. As thread-safe as the function. (F3, I3)
///   ToolRetry tools{policy, RepeatableWithKey{"ship"}, OnUnknownOutcome{[&](const UnknownOutcome& lost) { desk.add(lost); }}};
template <class F>
class OnUnknownOutcome {
 public:
  using role = encore::role::Observer;
  constexpr explicit OnUnknownOutcome(F f) : reconcile_(std::move(f)) {
    static_assert(std::invocable<const F&, const UnknownOutcome&>,
                  "OnUnknownOutcome takes a function of `const UnknownOutcome&`");
    if constexpr (std::invocable<const F&, const UnknownOutcome&>)
      static_assert(!detail::Deferred<std::invoke_result_t<const F&, const UnknownOutcome&>>,
                    "this function of OnUnknownOutcome returns a coroutine or future that is never awaited: "
                    "wait for it in the function");
  }

  void operator()(const Event& event) const {
    if (event.kind == EventKind::call_finished && event.outcome_unknown) reconcile_(outcome_of(event));
  }
  void operator()(const UnknownOutcome& outcome) const { reconcile_(outcome); }

 private:
  static UnknownOutcome outcome_of(const Event& event) {
    UnknownOutcome outcome{.call_id = std::string{event.call_id()},
                           .call_name = std::string{event.call_name},
                           .resolved_name = std::string{event.resolved_name},
                           .request_id = std::string{event.lost_request_id},
                           .attempts = event.ordinal};
    if (event.current != nullptr) {
      const auto& call = event.current->call();
      outcome.signature = call.signature;
      const auto keyed = call.replay == ReplaySafety::repeatable_with_key;
      if (keyed || (event.notes != nullptr && event.notes->key_used()))
        outcome.idempotency_key = event.current->idempotency_key();
    }
    if (event.thrown != nullptr) {
      outcome.error_type = encore::error_type(*event.thrown);
      outcome.error = std::current_exception();
    }
    return outcome;
  }
  F reconcile_;
};

}  // namespace encore ENCORE_BUILD

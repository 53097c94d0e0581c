// A call that outlives its process: saved as text during a wait or before an attempt, and continued in another process.
#pragma once
#include <encore/call.hpp>
#include <encore/decision.hpp>
#include <encore/detail/durable/restorer.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/fingerprint.hpp>
#include <encore/durable/saved_call.hpp>
#include <encore/duration.hpp>
#include <encore/engine/owned_call.hpp>
#include <encore/failure.hpp>
#include <encore/retrying.hpp>
#include <encore/setting.hpp>

#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace encore ENCORE_BUILD {

/// What to do with a call that was saved under a policy which decides differently.
enum class IfPolicyChanged : std::uint8_t {
  refuse,
  accept,  ///< the call continues under the new policy: with its limits, and with the ordinal that it had
};

/// `Retrying` for job tables: it makes the same decisions, for a call that another process may continue. It owns the call's
/// texts, and keeps its idempotency key (I2). The policy must outlive it. Not thread-safe.
///   DurableCall call{policy, {.id = "job-7"}};
///   next = call.begin();  store(call.save());     // before the attempt, so that it is never repeated unnoticed
///   … the attempt …
///   next = call.threw(&error);  store(call.save(), call.due());
/// In the next process, however the last one ended:
///   DurableCall call{policy, SavedCall::read(text)};
///   next = call.next();                           // again after the rest of the wait, or stop
///   … wait … next = call.resume();  store(call.save());
/// An attempt that was under way has an unknown outcome: the call continues only if it is repeatable, or repeatable with a key
/// that had been asked for when it was saved; otherwise it stops with `unknown_outcome`. (I3)
/// An exception does not outlive its process: a restored call that ends before another attempt has a failure without one.
template <class Policy>
class DurableCall {
 public:
  /// A new call.
  DurableCall(const Policy& policy, const Call& call)
      : DurableCall{policy, call, call.scope != nullptr ? *call.scope : Scope::process(), Phase::not_begun} {}

  /// Restores a saved call. If the system clock was set back, neither its wait nor its deadline is extended. (D7)
  /// Throws `std::invalid_argument` with both fingerprints if the policy decides differently, unless `change` accepts that.
  template <std::same_as<SavedCall> Saved>  // so that a braced call is a new one
  DurableCall(const Policy& policy, const Saved& saved, IfPolicyChanged change = IfPolicyChanged::refuse,
              const StopView& stop = {})
      : DurableCall{policy, call_of(policy, saved, stop), saved.scope,
                    saved.under_way ? Phase::under_way : Phase::waiting} {
    const auto print = Fingerprint::of(policy);
    if (change == IfPolicyChanged::refuse && print != saved.policy)
      refuse_setting("policy", saved.policy.text(),
                     "is invalid: the fingerprint of this policy is " + print.text());
    const auto wall = policy.clock().wall();
    const auto downtime = time_between(saved.saved_at, wall);
    const auto left = shared::smaller_of(time_between(saved.saved_at, saved.due), saved.wait);
    due_ = later(wall, left - shared::smaller_of(downtime, left));
    undecided_ = true;
    detail::Restorer::restore(retrying_, policy, saved, sum_of(saved.elapsed, downtime));
  }

  DurableCall(const Policy&& policy, const Call& call) : DurableCall{policy, call} { refuse_temporary(); }
  template <std::same_as<SavedCall> Saved>
  DurableCall(const Policy&& policy, const Saved& saved, IfPolicyChanged = {}, const StopView& = {})
      : DurableCall{policy, saved} {
    refuse_temporary();
  }

  /// One line of text, for `SavedCall::read`. Throws `std::invalid_argument` if the call has not begun or is over.
  std::string save() const {
    if (phase_ == Phase::not_begun || phase_ == Phase::over)
      refuse_setting("call", detail::shown(retrying_.call().id),
                     "cannot be saved: it has not begun, or it is over");
    const auto& call = retrying_.call();
    SavedCall saved{.policy = Fingerprint::of(policy_),
                    .id = std::string{retrying_.attempt().call_id()},
                    .name = std::string{call.name},
                    .resolved_name = std::string{call.resolved_name},
                    .signature = std::string{call.signature},
                    .scope = scope_,
                    .replay = call.replay,
                    .under_way = phase_ == Phase::under_way,
                    .saved_at = policy_.clock().wall(),
                    .due = due_};
    if (call.deadline)
      saved.deadline = later(saved.saved_at, time_between(policy_.clock().now(), *call.deadline));
    detail::Restorer::save(retrying_, policy_, saved);
    return saved.text();
  }

  /// Says whether the call goes on after the rest of its wait, or has stopped. For a restored call, its first use asks the limits
  /// and guards, notifies the observers, and decides about the attempt that was under way.
  [[nodiscard]] Decision next() {
    if (undecided_) {
      undecided_ = false;
      return ended(phase_ == Phase::under_way
                       ? detail::Restorer::interrupted(retrying_)
                       : detail::Restorer::continue_wait(retrying_, policy_, wait_left()),
                   phase_ == Phase::waiting);
    }
    if (phase_ == Phase::waiting) return {.wait = wait_left()};
    return {.stop = retrying_.reason()};
  }
  /// When the next attempt may start, in calendar time: for the column by which a job table is searched. Valid after a decision
  /// to go on.
  WallTime due() const noexcept { return due_; }

  // As in `Retrying`. A restored call has begun already; if the result of its attempt under way becomes known, report it instead
  // of calling `next`.

  [[nodiscard]] Decision begin() { return began(retrying_.begin()); }
  void succeeded() {
    retrying_.succeeded();
    undecided_ = false;
    phase_ = Phase::over;
  }
  template <class... Error>
  [[nodiscard]] Decision threw(const Error&... error) {
    return ended(retrying_.threw(error...), phase_ == Phase::waiting);
  }
  template <class Value>
  [[nodiscard]] Decision returned(const Value& value) {
    return ended(retrying_.returned(value), phase_ == Phase::waiting);
  }
  [[nodiscard]] Decision resume() {
    if (undecided_) static_cast<void>(next());
    return began(retrying_.resume());
  }
  const Attempt& attempt() const noexcept { return retrying_.attempt(); }
  const Call& call() const noexcept { return retrying_.call(); }
  int attempts() const noexcept { return retrying_.attempts(); }
  StopReason reason() const noexcept { return retrying_.reason(); }
  Duration slept() const noexcept { return retrying_.slept(); }
  Failure failure() const { return retrying_.failure(); }
  static constexpr bool strategy_handles(StopReason reason) noexcept {
    return Retrying<Policy>::strategy_handles(reason);
  }

 private:
  enum class Phase : std::uint8_t { not_begun, under_way, waiting, over };

  DurableCall(const Policy& policy, const Call& call, const Scope& scope, Phase phase)
      : policy_{policy},
        scope_{scope},
        owned_{call},
        retrying_{policy, in_scope(owned_.view(), scope_)},
        phase_{phase} {}

  static constexpr void refuse_temporary() {
    static_assert(
        !std::is_class_v<Policy>,
        "a DurableCall only refers to its policy: give the policy a name, so that it outlives the call");
  }
  static Call in_scope(Call call, const Scope& scope) noexcept {
    call.scope = &scope;
    return call;
  }
  static Call call_of(const Policy& policy, const SavedCall& saved, const StopView& stop) {
    Call call{.id = saved.id,
              .name = saved.name,
              .resolved_name = saved.resolved_name,
              .operation_key = saved.operation_key,
              .stop = stop,
              .replay = saved.replay,
              .signature = saved.signature};
    if (saved.deadline) {
      const auto left = time_between(saved.saved_at, *saved.deadline);
      call.deadline = later(policy.clock().now(), left - time_between(saved.saved_at, policy.clock().wall()));
    }
    return call;
  }
  // Never more than the whole wait, even if the calendar was set back. (D7)
  Duration wait_left() const {
    return shared::smaller_of(time_between(policy_.clock().wall(), due_),
                              detail::Restorer::wait_of(retrying_));
  }

  Decision began(Decision next) noexcept {
    phase_ = next.goes_on() ? Phase::under_way : Phase::over;
    return next;
  }
  Decision ended(Decision next, bool due_is_known = false) {
    if (phase_ == Phase::under_way) undecided_ = false;
    phase_ = next.goes_on() ? Phase::waiting : Phase::over;
    if (next.goes_on() && !due_is_known) due_ = later(policy_.clock().wall(), next.wait);
    return next;
  }

  const Policy& policy_;
  Scope scope_;
  OwnedCall owned_;
  Retrying<Policy> retrying_;
  Phase phase_;
  bool undecided_ = false;
  WallTime due_{};
};

}  // namespace encore ENCORE_BUILD

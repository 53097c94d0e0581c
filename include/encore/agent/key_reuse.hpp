// Reports that one idempotency key stands for two different calls.
#pragma once
#include <encore/agent/run_guard.hpp>
#include <encore/as_value.hpp>
#include <encore/call.hpp>
#include <encore/detail/agent/key_ledger.hpp>
#include <encore/option.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore::role {
struct KeyReuse {};  ///< of a tool layer: is notified of keys that stand for two calls
}  // namespace encore::role

namespace encore ENCORE_BUILD {

/// An operation key that stands for another call than the one it was first used for: the other side would take the new call for a
/// repetition, and never do it. Keys that encore generates never stand for two calls. A view. (I2)
struct KeyReuse {
  std::string_view key{};
  std::string_view call_id{};
  std::string_view call_name{};
};

/// Is called with such keys, by a `ToolRetry` or a `ToolRun`, before the call's first attempt, except for calls that are harmless
/// to repeat. Unless it throws, the call runs. Copies share the keys that they have seen. As thread-safe as the function.
///   ToolRetry tools{policy, RepeatableWithKey{"ship"}, OnKeyReused{[&](const KeyReuse& reuse) { alarm(reuse.key); }}};
template <class F>
class OnKeyReused {
 public:
  using role = encore::role::KeyReuse;
  explicit OnKeyReused(F f) : report_(std::move(f)) {
    static_assert(std::invocable<const F&, const KeyReuse&>,
                  "OnKeyReused takes a function of `const KeyReuse&`");
    if constexpr (std::invocable<const F&, const KeyReuse&>)
      static_assert(!detail::Deferred<std::invoke_result_t<const F&, const KeyReuse&>>,
                    "this function of OnKeyReused returns a coroutine or future that is never awaited: wait "
                    "for it in the function");
  }

  /// Reports the call if its key stands for another call.
  void look_at(const Call& call, const IssuedCall& issued) const {
    if (call.replay == ReplaySafety::repeatable || call.operation_key.empty()) return;
    if (!seen_->stands_for(call.operation_key, issued))
      report_(KeyReuse{call.operation_key, call.id, call.name});
  }
  void operator()(const KeyReuse& reuse) const { report_(reuse); }

 private:
  F report_;
  std::shared_ptr<detail::KeyLedger> seen_ = std::make_shared<detail::KeyLedger>();
};

namespace detail {
/// The default hook: does nothing.
struct IgnoreKeyReuse {
  using role = encore::role::KeyReuse;
  static void look_at(const Call&, const IssuedCall&) noexcept {}
  void operator()(const KeyReuse&) const noexcept {}
};
}  // namespace detail

}  // namespace encore ENCORE_BUILD

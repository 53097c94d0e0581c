// Who may refuse an attempt: the promise that guards make.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/ingredient.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD {

/// The attempt that a guard is asked about.
struct AdmissionRequest {
  std::string_view call_id{};    ///< empty if the caller gave none
  std::string_view call_name{};  ///< the name it was resolved to, if a tool layer resolved it
  int ordinal = 1;
  Duration
      ahead{};  ///< the wait before it begins: a guard is asked before the sleep, about the time after it (H2)
  Now now;

  bool is_retry() const noexcept { return ordinal > 1; }
  /// When the attempt will begin. Reads the clock.
  TimePoint begins_at() const { return later(now(), ahead); }
};

/// Admits attempts or refuses them, and is told how each ended. It must not throw and is safe to use from many threads. (H1, H8)
/// `admit` gives a move-only permit, or nothing. The permit is told `succeeded(now)` or `failed(now, retryable)` at most
/// once; destroyed without either it is returned unspent. Optional members: `began(now)`, when the attempt begins;
/// `still_admitted(now)`, asked on waking from the wait (H2); `answered(now)`, in place of `failed(now, false)` if what failed was
/// returned: then somebody answered (H3). `refusal` is the stop reason.
/// A guard may have a second `admit(request, failure)`, which is then asked before a retry, if it takes such a failure: a
/// `const Thrown&` or a `const Returned<Value>&`. One that knows when it may admit again says so in an optional
/// `std::optional<Duration> admits_again(request) const`, counted from now: the model is told of it (G5, H3).
/// With `static constexpr bool per_call = true` it is asked once for each call, and told of the call's end.
template <class G>
concept Guard = Plays<G, role::Guard> &&
                requires(G& guard, const AdmissionRequest& request) {
                  typename std::remove_cvref_t<G>::Permit;
                  {
                    guard.admit(request)
                  } -> std::same_as<std::optional<typename std::remove_cvref_t<G>::Permit>>;
                  { std::remove_cvref_t<G>::refusal } -> std::convertible_to<StopReason>;
                } &&
                requires(typename std::remove_cvref_t<G>::Permit& permit, const Now& now) {
                  permit.succeeded(now);
                  permit.failed(now, true);
                } && std::move_constructible<typename std::remove_cvref_t<G>::Permit> &&
                !std::copy_constructible<typename std::remove_cvref_t<G>::Permit>;

namespace detail {

template <class G>
inline constexpr bool is_per_call = requires { requires std::remove_cvref_t<G>::per_call; };

// Has it an `admit` for a retry that answers such a failure?
template <class G, class Failed>
concept LooksAt = requires(G& guard, const AdmissionRequest& request, const Failed& failure) {
  guard.admit(request, failure);
};

}  // namespace detail

}  // namespace encore ENCORE_BUILD

#include <encore/engine/permits.hpp>  // what a policy with guards runs on

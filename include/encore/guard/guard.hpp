// What a guard is: a type that may refuse an attempt.
#pragma once
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/option.hpp>
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
  std::string_view call_name{};  ///< as resolved by a tool layer, if it did so
  int ordinal = 1;               ///< 1 for the first attempt
  Duration ahead{};              ///< the wait before the attempt: a guard is asked before the sleep (H2)
  Now now;                       ///< reads the policy's clock

  bool is_retry() const noexcept { return ordinal > 1; }
  /// When the attempt will begin. Reads the policy's clock.
  TimePoint begins_at() const { return later(now(), ahead); }
};

/// Admits or refuses attempts, and is notified how each admitted one ended. It must not throw, and must be safe to use from many
/// threads. (H1, H8)
/// `admit` returns a move-only permit, or nothing. The driver calls at most one of the permit's `succeeded(now)` and `failed(now,
/// retryable)`, once; a permit that is destroyed without either was not used. `refusal` is the stop reason of a refused attempt.
/// Optional members:
/// - `began(now)` of the permit, called when the attempt begins;
/// - `still_admitted(now)` of the permit, asked after the wait before the attempt (H2);
/// - `answered(now)` of the permit, called instead of `failed(now, false)` if the failure was returned, so the service answered;
/// - a second `admit(request, failure)`, asked before a retry if it takes the failure: a `const Thrown&` or `const Returned<Value>&`;
/// - `std::optional<Duration> admits_again(request) const`, how long from now it will refuse, which the model gets (G5, H3);
/// - `static constexpr bool per_call = true`: it is asked once for each call, and notified of the call's end.
template <class G>
concept Guard = shared::HasRole<G, role::Guard> &&
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

// True if it has an `admit` for a retry after such a failure.
template <class G, class Failed>
concept LooksAt = requires(G& guard, const AdmissionRequest& request, const Failed& failure) {
  guard.admit(request, failure);
};

}  // namespace detail

}  // namespace encore ENCORE_BUILD

#include <encore/engine/permits.hpp>  // makes policies with guards run

// Who may refuse an attempt: the promise that guards make, and the permits that are always given back.
#pragma once
#include <encore/attributes.hpp>
#include <encore/clock.hpp>
#include <encore/duration.hpp>
#include <encore/ingredient.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace encore {

class Thrown;

/// The attempt that a guard is asked about.
struct AdmissionRequest {
  std::string_view call_id{};    ///< empty if the caller gave none
  std::string_view call_name{};  ///< the name it was resolved to, if a tool layer resolved it
  int ordinal = 1;
  Duration
      ahead{};  ///< the wait before it begins: a guard is asked before the sleep, about the time after it (H2)
  Now now;
  const Thrown* after = nullptr;  ///< the exception that a retry answers; null if a returned value failed

  bool is_retry() const noexcept { return ordinal > 1; }
  /// When the attempt will begin. Reads the clock.
  TimePoint begins_at() const { return later(now(), ahead); }
};

/// Admits attempts or refuses them, and is told how each ended. It must not throw and is safe to use from many threads. (H1, H8)
/// `admit` gives a move-only permit, or nothing. The permit is told `succeeded(now)` or `failed(now, retryable)` at most
/// once; destroyed without either it is returned unspent. Optional members: `began(now)`, when the attempt begins;
/// `still_admitted(now)`, asked on waking from the wait (H2). `refusal` is the stop reason.
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

/// The permits of one call, one place for each guard. Whatever is left when it is destroyed is returned unspent. (H1)
template <class... G>
class Permits {
 public:
  /// Asks every guard in turn; at the first refusal those before it are released, and its reason is the answer.
  template <class Guards>
  StopReason admit(const Guards& guards, const AdmissionRequest& request) {
    return admit(guards, request, Indices{});
  }
  void began(const Now& now) {
    each([&](auto& permit, auto) {
      if constexpr (requires { permit.began(now); }) permit.began(now);
    });
  }
  template <class Guards>
  StopReason still_admitted(const Guards&, const Now& now) {
    auto refused = StopReason::none;
    each([&](auto& permit, auto guard) {
      using Asked = typename decltype(guard)::type;
      if constexpr (!is_per_call<Asked> && requires { permit.still_admitted(now); }) {
        if (refused == StopReason::none && !permit.still_admitted(now)) refused = Asked::refusal;
      }
    });
    return refused;
  }
  void attempt_failed(const Now& now, bool retryable) {
    settle<false>([&](auto& permit) { permit.failed(now, retryable); });
  }
  void succeeded(const Now& now) {
    settle<false>([&](auto& permit) { permit.succeeded(now); });
    settle<true>([&](auto& permit) { permit.succeeded(now); });
  }
  /// The call is over without a success: told to the guards that are asked once a call.
  void call_failed(const Now& now, bool exhausted) {
    settle<true>([&](auto& permit) { permit.failed(now, exhausted); });
  }
  void release() {
    std::apply([](auto&... permit) { (permit.reset(), ...); }, permits_);
  }
  /// Returns what was taken for one attempt and not spent; the call's own permits stay.
  void release_attempt() {
    settle<false>([](auto&) {});
  }

 private:
  using Indices = std::index_sequence_for<G...>;

  template <class Guards, std::size_t... I>
  StopReason admit(const Guards& guards, const AdmissionRequest& request, std::index_sequence<I...>) {
    auto refused = StopReason::none;
    (void)(take<G>(std::get<I>(permits_), std::get<I>(guards).get(), request, refused) && ...);
    if (refused != StopReason::none) release_attempt();
    return refused;
  }
  template <class Asked, class Slot, class Place>
  static bool take(Slot& slot, Place& guard, const AdmissionRequest& request, StopReason& refused) {
    if constexpr (is_per_call<Asked>) {
      if (request.is_retry()) return true;
    }
    if (auto permit = guard.admit(request))
      slot.emplace(*std::move(permit));
    else
      refused = std::remove_cvref_t<Asked>::refusal;
    return refused == StopReason::none;
  }
  template <class F>
  void each(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((std::get<I>(permits_) ? f(*std::get<I>(permits_), std::type_identity<std::remove_cvref_t<G>>{})
                              : void()),
       ...);
    }(Indices{});
  }
  template <bool PerCall, class F>
  void settle(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (settle_one<PerCall, G>(std::get<I>(permits_), f), ...);
    }(Indices{});
  }
  template <bool PerCall, class Asked, class Slot, class F>
  static void settle_one(Slot& slot, F& f) {
    if constexpr (is_per_call<Asked> == PerCall) {
      if (!slot) return;
      f(*slot);
      slot.reset();
    }
  }

  std::tuple<std::optional<typename std::remove_cvref_t<G>::Permit>...> permits_{};
};

}  // namespace detail

}  // namespace encore

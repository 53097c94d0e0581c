// A guard that is asked about calls, not about attempts.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/guard/guard.hpp>
#include <encore/option.hpp>
#include <encore/stop_reason.hpp>

#include <optional>
#include <type_traits>

namespace encore ENCORE_BUILD {

namespace detail {
template <class G>
inline constexpr bool counts_retries = requires { requires std::remove_cvref_t<G>::counts_retries; };
}  // namespace detail

/// Asks `guard` once for each call and reports to it how the call ended, whatever its attempts did: a `CircuitBreaker` then
/// counts failed calls, including those whose next attempt another guard refused. A view: the guard must outlive it. As
/// thread-safe as the guard.
///   RetryPolicy policy{RetryOn<TimeoutError>{}, PerCall{breaker}};
template <Guard G>
class PerCall {
  static_assert(!detail::counts_retries<G>,
                "this guard counts retries, so it cannot be asked once for each call: give it to the policy "
                "without PerCall");

 public:
  using role = encore::role::Guard;
  using Permit = typename G::Permit;
  static constexpr bool per_call = true;
  static constexpr StopReason refusal = G::refusal;

  constexpr explicit PerCall(G& guard) noexcept : guard_{detail::address_of(guard)} {}
  explicit PerCall(const G&&) = delete;  // a temporary guard would be gone before its first call

  std::optional<Permit> admit(const AdmissionRequest& request) const { return guard_->admit(request); }
  std::optional<Duration> admits_again(const AdmissionRequest& request) const
    requires requires(const G& guard) { guard.admits_again(request); }
  {
    return guard_->admits_again(request);
  }

 private:
  G* guard_;
};

}  // namespace encore ENCORE_BUILD

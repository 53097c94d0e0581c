// Declares that the callable retries internally, so that events and failures report the total number of requests.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <cstdint>
#include <optional>

namespace encore ENCORE_BUILD {

/// Declares that the callable makes up to `attempts` requests of its own in each attempt of the policy, as an HTTP client or an
/// SDK with retries does. Only reports change: events, failures and catalogs give the product. Prefer one layer that
/// retries to two. (J1)
///   RetryPolicy policy{RetryOn<TimeoutError>{}, MaxAttempts{4}, AlreadyRetries{3}};  // policy.max_requests() == 12
struct AlreadyRetries {
  using role = encore::role::InnerAttempts;
  Count<"already_retries", 1> attempts;
};

/// The maximum number of requests that reach the dependency: attempts times requests per attempt; empty if unlimited. (A
/// template, here and in similar functions, so that it is compiled only where it is used. P11)
template <class Requests = std::int64_t>
constexpr std::optional<Requests> max_requests_of(std::optional<int> max_attempts,
                                                  int inner_attempts) noexcept {
  if (!max_attempts) return std::nullopt;
  return Requests{*max_attempts} * inner_attempts;
}

}  // namespace encore ENCORE_BUILD

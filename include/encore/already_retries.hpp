// A policy around something that retries by itself: it multiplies the requests, and says so.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>

#include <cstdint>
#include <optional>

namespace encore ENCORE_BUILD {

/// Says that what is called makes up to so many attempts of its own for each of the policy's, as an HTTP client or an SDK with
/// retries does. It changes nothing but what is told: events, failures and catalogs then give the product. One layer that
/// retries is better than two. (J1)
///   RetryPolicy policy{RetryOn<TimeoutError>{}, MaxAttempts{4}, AlreadyRetries{3}};  // policy.max_requests() == 12
struct AlreadyRetries {
  using role = encore::role::InnerAttempts;
  Count<"already_retries", 1> attempts;
};

/// The most requests that reach the dependency: attempts times those that each makes; empty if unlimited. (Here and below a template,
/// so that only who asks pays for compiling it. P11)
template <class Requests = std::int64_t>
constexpr std::optional<Requests> max_requests_of(std::optional<int> max_attempts,
                                                  int inner_attempts) noexcept {
  if (!max_attempts) return std::nullopt;
  return Requests{*max_attempts} * inner_attempts;
}

}  // namespace encore ENCORE_BUILD

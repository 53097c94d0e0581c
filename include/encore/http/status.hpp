// Which HTTP statuses are worth a retry.
#pragma once
#include <encore/detail/attributes.hpp>

#include <array>

namespace encore ENCORE_BUILD::http {

/// The registered statuses after which the same request may well succeed a little later.
///
/// | status | why                                                                                | source             |
/// |--------|------------------------------------------------------------------------------------|--------------------|
/// | 408    | the server gave up waiting for the request; it may be repeated on a new connection | RFC 9110, 15.5.9   |
/// | 425    | the request came as TLS early data and was not processed                           | RFC 8470, 5.2      |
/// | 429    | too many requests for now                                                          | RFC 6585, 4        |
/// | 500    | an unexpected condition; often one bad process of many                              | RFC 9110, 15.6.1   |
/// | 502    | a proxy got no valid answer from the server behind it                              | RFC 9110, 15.6.3   |
/// | 503    | overloaded or under maintenance                                                    | RFC 9110, 15.6.4   |
/// | 504    | a proxy got no answer in time                                                      | RFC 9110, 15.6.5   |
///
/// What others retry: the AWS SDKs' standard mode 500, 502, 503, 504, and throttling by its error code; Google Cloud
/// Storage 408, 429 and every 5xx; Polly's `HandleTransientHttpError` 408 and every 5xx; urllib3 413, 429 and 503 if
/// they carry Retry-After, and the statuses that its user lists.
inline constexpr std::array<int, 7> transient_statuses{408, 425, 429, 500, 502, 503, 504};

/// True if the same request may well succeed a little later: one of `transient_statuses`, or an unregistered 5xx, such as 520 to
/// 524 of content delivery networks and 529 of model providers, since an unknown status counts as the x00 of its class (RFC 9110,
/// 15).
///
/// False for each 5xx that will answer the same way again: 501, 505, 506, 508, 510, 511, and 507, which must not be repeated
/// without a user's request (RFC 4918, 11.5). False for 409, 413, 421 and 423: the request, its target or its connection has to
/// change first. False for anything outside 100 to 599, which is not a status.
///
/// It says that a retry is useful, not that it is safe: after a 500, 502 or 504 the work may have been done (I1). To tell a 429
/// that means "no quota left" from others, look at its body in the predicate (B8).
///
/// Pure; thread-safe.
///   encore::RetryIfResult{[](const Response& response) { return encore::http::is_transient(response.status); }}
[[nodiscard]] constexpr bool is_transient(int status) noexcept {
  for (const int transient : transient_statuses) {
    if (status == transient) return true;
  }
  const bool is_unregistered_server_error = status == 509 || (status >= 512 && status <= 599);
  return is_unregistered_server_error;
}

}  // namespace ENCORE_BUILD::http

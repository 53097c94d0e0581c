// How long a server asks its caller to wait: the value of a Retry-After header as a hint for the policy.
// Every function here is pure and thread-safe, allocates nothing, and accepts any text without throwing. (E6)
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/decimal.hpp>
#include <encore/duration.hpp>
#include <encore/http/date.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace encore ENCORE_BUILD::http {

namespace detail {

/// Reads `digits` or `digits.digits` as a number of units, rounded up to the nanosecond and clamped to `Duration::max()`.
constexpr std::optional<Duration> decimal(std::string_view text, Duration unit) noexcept {
  text = trimmed(text);
  encore::detail::Decimal number;
  if (!encore::detail::take_decimal(text, number) || !text.empty()) return std::nullopt;
  constexpr auto limit = static_cast<std::uint64_t>((Duration::max)().count());
  const auto read = encore::detail::scaled(number, static_cast<std::uint64_t>(unit.count()), limit);
  return Duration{
      static_cast<Duration::rep>(read.cut && read.amount < limit ? read.amount + 1 : read.amount)};
}

constexpr std::optional<Duration> retry_after(std::string_view header, Moment from) noexcept {
  if (const auto delay = decimal(header, std::chrono::seconds{1})) return delay;
  const auto date = http_date(header, from.second);
  if (!date || *date < from.second) return std::nullopt;
  const std::chrono::seconds ahead = *date - from.second;
  if (ahead >= std::chrono::duration_cast<std::chrono::seconds>((Duration::max)())) return (Duration::max)();
  const Duration wait = ahead - from.rest;
  return wait < Duration::zero() ? std::nullopt : std::optional{wait};
}

}  // namespace detail

/// The wait that a `Retry-After` value asks for, never negative. Nothing for an invalid value or a date before `now`: then the
/// policy's own wait is used (E3). "0", and a date equal to `now`, mean no wait.
/// Besides whole seconds and the three date forms, a decimal fraction such as "0.4" is accepted, because servers send it. It is
/// rounded up to the nanosecond (E1). A wait that `Duration` cannot hold becomes `Duration::max()`, which exceeds any hint cap
/// and so ends the call (E2).
///   retry_after("120", now) == 120s;  retry_after("-1", now) == std::nullopt
[[nodiscard]] constexpr std::optional<Duration> retry_after(std::string_view header, WallTime now) noexcept {
  return detail::retry_after(header, detail::moment(now));
}

/// The same for a response with a `Date` header: a date counts from the response's own `Date`, so the two clocks need not agree
/// (E6). It counts from `now` if `date_header` is empty or no HTTP date.
///   retry_after("Sun, 06 Nov 1994 08:50:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", now) == 30s
[[nodiscard]] constexpr std::optional<Duration> retry_after(std::string_view header,
                                                            std::string_view date_header,
                                                            WallTime now) noexcept {
  const detail::Moment received = detail::moment(now);
  const auto sent = detail::http_date(date_header, received.second);
  return detail::retry_after(header, sent ? detail::Moment{*sent} : received);
}

/// The wait in a `retry-after-ms` or `x-ms-retry-after-ms` value: milliseconds, with or without a fraction. No standard defines
/// these headers; Azure and OpenAI send them. Where one is present, it is more exact than `Retry-After`. Rounded and clamped like
/// `retry_after`.
///   retry_after_ms("1500") == 1500ms
[[nodiscard]] constexpr std::optional<Duration> retry_after_ms(std::string_view header) noexcept {
  return detail::decimal(header, std::chrono::milliseconds{1});
}

}  // namespace ENCORE_BUILD::http

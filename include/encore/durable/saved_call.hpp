// A call between two attempts, or during one, as one line of text.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/hexadecimal.hpp>
#include <encore/detail/named.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/fingerprint.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/duration.hpp>
#include <encore/engine/replay_safety_text.hpp>
#include <encore/scope.hpp>
#include <encore/setting.hpp>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace encore ENCORE_BUILD {

/// All that a retry needs to continue. An owning value; times are calendar times, because processes share no other clock. (D1)
struct SavedCall {
  Fingerprint policy{0};
  std::string id{};
  std::string name{};
  std::string resolved_name{};
  std::string operation_key{};  ///< the call's idempotency key: the caller's, or a generated one (I2)
  std::string signature{};
  Scope scope{0, 0};
  ReplaySafety replay = ReplaySafety::repeatable;
  bool under_way = false;  ///< saved while an attempt ran: its result is unknown (I3)
  int attempts = 1;        ///< started so far
  bool key_used = false;
  bool outcome_unknown = false;  ///< of an earlier attempt (I3)
  std::string request_id{};      ///< if so, of the latest request without an answer, if one was noted
  Duration wait{};               ///< the whole wait before the next attempt
  Duration previous{};           ///< the previous computed wait, for jitter that depends on it
  Duration slept{};              ///< in all waits so far
  Duration elapsed{};            ///< from the call's start until it was saved
  WallTime saved_at{};
  WallTime due{};  ///< when the next attempt may start
  std::optional<WallTime> deadline{};
  std::optional<std::uint64_t> stream{};  ///< of random numbers, if any were drawn (C8)

  /// One line of JSON, without a line end. 64-bit numbers are strings: JSON numbers keep only 53 bits. Texts are restored byte
  /// for byte.
  std::string text() const;
  /// Reads such a line. Throws `std::invalid_argument` that names the field and its value.
  static SavedCall read(std::string_view line);
};

namespace detail {

/// Reads the fields of a saved call that are numbers written as text.
struct SavedNumbers {
  const SavedLine& line;

  template <std::integral Number>
  Number read(std::string_view field, std::string_view text, int base, std::size_t digits,
              std::string_view what) const {
    Number number{};
    const auto* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
    if (text.empty() || error != std::errc{} || stopped != end || (digits != 0 && text.size() != digits))
      refuse(field, text, what);
    return number;
  }
  std::uint64_t bits(std::string_view field) const { return bits(field, line.text(field)); }
  std::uint64_t bits(std::string_view field, std::string_view text) const {
    return read<std::uint64_t>(field, text, 16, 16, "16 hexadecimal digits");
  }
  WallTime wall(std::string_view field) const {
    return WallTime{Duration{read<std::int64_t>(field, line.text(field), 10, 0, "nanoseconds since 1970")}};
  }
  Duration span(std::string_view field, Duration max_span = (Duration::max)()) const {
    const auto text = line.text(field);
    const Duration span{read<std::int64_t>(field, text, 10, 0, "nanoseconds")};
    if (span < Duration::zero() || span > max_span)
      refuse(field, text, "from 0 to " + std::to_string(max_span.count()) + " nanoseconds");
    return span;
  }

  [[noreturn]] static void refuse(std::string_view field, std::string_view text, std::string_view what) {
    refuse_setting(field, in_quotes(text), "is invalid: it must be " + std::string{what});
  }
};

inline std::string in_nanoseconds(Duration duration) { return std::to_string(duration.count()); }
inline std::string in_nanoseconds(WallTime time) { return in_nanoseconds(time.time_since_epoch()); }

inline ReplaySafety replay_of(std::string_view name) {
  if (const auto safety = named(name, ReplaySafety::excluded)) return *safety;
  SavedNumbers::refuse("replay", name, "repeatable, repeatable_with_key, never or excluded");
}

}  // namespace detail

inline std::string SavedCall::text() const {
  using detail::in_nanoseconds;
  StateLine line{"call"};
  line.add("policy", policy.text())
      .add_bytes("id", id)
      .add_bytes("name", name)
      .add_bytes("resolved_name", resolved_name)
      .add_bytes("operation_key", operation_key)
      .add("scope", scope.text())
      .add("replay", to_string(replay))
      .add("under_way", under_way ? 1 : 0)
      .add("attempts", attempts)
      .add("key_used", key_used ? 1 : 0)
      .add("outcome_unknown", outcome_unknown ? 1 : 0)
      .add("wait_ns", in_nanoseconds(wait))
      .add("previous_ns", in_nanoseconds(previous))
      .add("slept_ns", in_nanoseconds(slept))
      .add("elapsed_ns", in_nanoseconds(elapsed))
      .add("saved_at_ns", in_nanoseconds(saved_at))
      .add("due_ns", in_nanoseconds(due));
  if (!request_id.empty()) line.add_bytes("request_id", request_id);
  if (!signature.empty()) line.add_bytes("signature", signature);
  if (deadline) line.add("deadline_ns", in_nanoseconds(*deadline));
  if (stream) line.add("stream", detail::hexadecimal(*stream));
  return line.text();
}

inline SavedCall SavedCall::read(std::string_view text) {
  const auto line = saved_line(text, "call");
  const detail::SavedNumbers numbers{line};
  const auto scope = line.text("scope");
  if (scope.size() != 32) numbers.refuse("scope", scope, "32 hexadecimal digits");
  SavedCall call{
      .policy = Fingerprint{numbers.bits("policy")},
      .id = line.bytes("id"),
      .name = line.bytes("name"),
      .resolved_name = line.bytes("resolved_name"),
      .operation_key = line.bytes("operation_key"),
      .scope = {numbers.bits("scope", scope.substr(0, 16)), numbers.bits("scope", scope.substr(16))},
      .replay = detail::replay_of(line.text("replay")),
      .under_way = line.flag("under_way"),
      .attempts = static_cast<int>(line.count("attempts", 1, (std::numeric_limits<int>::max)() - 1)),
      .key_used = line.flag("key_used"),
      .outcome_unknown = line.flag("outcome_unknown"),
      .wait = numbers.span("wait_ns", max_wait),
      .previous = numbers.span("previous_ns", max_wait),
      .slept = numbers.span("slept_ns"),
      .elapsed = numbers.span("elapsed_ns"),
      .saved_at = numbers.wall("saved_at_ns"),
      .due = numbers.wall("due_ns")};
  if (call.id.empty()) refuse_setting("id", "\"\"", "is invalid: it must not be empty");
  if (call.operation_key.empty())  // saved by a version that saved no keys
    call.operation_key = call.scope.text() + '/' + call.id;
  if (line.has_bytes("request_id")) call.request_id = line.bytes("request_id");
  if (line.has_bytes("signature")) call.signature = line.bytes("signature");
  if (line.has("deadline_ns")) call.deadline = numbers.wall("deadline_ns");
  if (line.has("stream")) call.stream = numbers.bits("stream");
  return call;
}

}  // namespace encore ENCORE_BUILD

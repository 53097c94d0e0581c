// One logical call: what the model, or the caller, asked for.
#pragma once
#include <encore/detail/made_once.hpp>
#include <encore/duration.hpp>
#include <encore/engine/inner_numbers.hpp>
#include <encore/scope.hpp>
#include <encore/stop.hpp>
#include <encore/stop_reason.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace encore {

class Attempt;
namespace shared {
struct MarkedAttempt;
}

/// What may be done again when an attempt has failed. Whatever is said here, one that was marked as not run may be followed by
/// another (`Attempt::mark_not_run`): nothing was done. (I1)
enum class ReplaySafety : std::uint8_t {
  repeatable,           ///< running it twice harms nobody
  repeatable_with_key,  ///< harmless if each attempt sends the same idempotency key
  never,                ///< it runs once, and the failure strategy answers if it fails: not_repeatable
  excluded,  ///< a tool layer's filter does not name it: it runs once, its result or exception untouched
};

/// What belongs to one call alone. Views only: what they point to must outlive the call. (D2)
///   policy.run({.id = "call-17", .name = "inventory_lookup"}, lookup);
struct Call {
  std::string_view id{};             ///< empty: a process-unique one is made when somebody looks (A4)
  std::string_view name{};           ///< the tool's, as the model or the caller said it
  std::string_view resolved_name{};  ///< the name it was resolved to, where a tool layer resolves names (F2)
  std::string_view
      operation_key{};  ///< the idempotency key, if it must outlive the call, as a redelivered message's (I2)
  std::optional<TimePoint> deadline{};  ///< on the policy's clock; the earliest limit holds (D2)
  StopView stop{};                      ///< ends waits and forbids attempts, never interrupts one (K1, K2)
  ReplaySafety replay = ReplaySafety::repeatable;
  /// Not `none`: whoever stands above has refused this call, as the limits of an agent's run do. No attempt is made, and
  /// observers are told as of any refusal on entry. (F1)
  StopReason refused = StopReason::none;
  const Scope* scope = nullptr;    ///< for idempotency keys and logs; absent: the process's (I2)
  const Attempt* outer = nullptr;  ///< the attempt inside which this call is made, if on another thread (J2)
  /// Tells calls of one id apart, and is no secret: a tool layer makes it of name and arguments. (I3)
  std::string_view signature{};

  /// Is it made in one attempt, whatever its policy allows, but for attempts before that did not run? (I1)
  constexpr bool runs_once() const noexcept { return replay >= ReplaySafety::never; }
  /// Does it bring a limit that must be looked at before its first attempt?
  constexpr bool limits_itself() const noexcept {
    // Of each the one that limits nothing is 0: they are looked at together.
    return stop.watches() || (static_cast<unsigned>(deadline.has_value()) | static_cast<unsigned>(replay) |
                              static_cast<unsigned>(refused)) != 0;
  }
};

static_assert(ReplaySafety{} == ReplaySafety::repeatable && StopReason{} == StopReason::none);

/// A call on its way, with the id that everybody sees: its own, or one made when first looked at. (A4)
/// Safe to look at from several threads. Not copied: views of the made id stay valid as long as it lives.
class CurrentCall {
 public:
  /// `around`: the mark of the attempt in which it is made, if it is made on that attempt's thread. (J1)
  constexpr explicit CurrentCall(const Call& call, const shared::MarkedAttempt* around = nullptr) noexcept
      : call_{call},
        around_{around} {}
  CurrentCall(const CurrentCall&) = delete;
  CurrentCall& operator=(const CurrentCall&) = delete;

  constexpr const Call& call() const noexcept { return call_; }
  constexpr std::string_view id() const noexcept { return call_.id.empty() ? made_id() : call_.id; }
  constexpr std::string_view name() const noexcept { return call_.name; }
  Scope scope() const noexcept { return call_.scope != nullptr ? *call_.scope : Scope::process(); }
  /// The caller's operation key if there is one; else a key that no other call has, settled when first asked for:
  /// `<scope>/<call id>/<draw>`, or inside an attempt `<its key>/<call id>/<number>`: calls of one id, or of one name where they
  /// have none, are told apart by their order in that attempt alone. Who makes them side by side, or leaves out in the next
  /// attempt those that are done, gives each an id of its own. In an id, what is not visible ASCII, `/` and `%` are written as in
  /// a URL, so that no id makes two keys one. Allocates. (I2)
  std::string idempotency_key() const;
  /// Is it made inside an attempt, as far as it was told?
  constexpr bool is_inside() const noexcept { return call_.outer != nullptr || around_ != nullptr; }
  /// When it begins inside one: its number there counts the calls made before it, not those that have asked for their key.
  void take_number() const noexcept;

 private:
  const Attempt* outer() const noexcept;
  /// A made one would be new in each outer attempt.
  constexpr std::string_view id_inside() const noexcept { return call_.id.empty() ? call_.name : call_.id; }

  std::string_view made_id() const noexcept {
    id_made_([this] { write_id(next_number()); });
    return {static_cast<const char*>(id_), std::size_t{length_}};
  }
  void write_id(std::uint64_t number) const noexcept {
    constexpr std::string_view prefix{"encore-"};
    char digits[20];
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    length_ = 0;
    for (const char character : prefix) id_[length_++] = character;
    while (count > 0) id_[length_++] = digits[--count];
  }

  const Call& call_;
  const shared::MarkedAttempt* around_;
  mutable char id_[28];  // written when the id is made
  mutable std::uint8_t length_;
  mutable shared::MadeOnce id_made_{};
  mutable shared::MadeOnce key_settled_{};
  mutable shared::InnerNumbers inner_numbers_{};
  mutable std::uint64_t number_;  // of the key, once it is settled: a draw, or that inside an attempt
};

}  // namespace encore

// One logical call, as requested by the model or the caller.
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

/// Whether a failed call may be repeated. Whatever the value, an attempt marked as not run (`Attempt::mark_not_run`) may be
/// followed by another, because nothing was done. (I1)
enum class ReplaySafety : std::uint8_t {
  repeatable,           ///< running it twice does no harm
  repeatable_with_key,  ///< harmless if each attempt sends the same idempotency key
  never,                ///< runs once; a failure goes to the failure strategy as not_repeatable
  excluded,  ///< a tool layer's filter does not name it: runs once, its result or exception unchanged
};

/// What belongs to a single call. Holds views only: what they point to must outlive the call. (D2)
///   policy.run({.id = "call-17", .name = "inventory_lookup"}, lookup);
struct Call {
  std::string_view id{};             ///< empty: a process-unique id is generated on first use (A4)
  std::string_view name{};           ///< the tool's name, as the model or the caller gave it
  std::string_view resolved_name{};  ///< the name it was resolved to, where a tool layer resolves names (F2)
  std::string_view
      operation_key{};  ///< the idempotency key, if it must outlive the call, as for a redelivered message (I2)
  std::optional<TimePoint> deadline{};  ///< on the policy's clock; the earliest limit applies (D2)
  StopView stop{};                      ///< ends waits, prevents attempts, interrupts none (K1, K2)
  ReplaySafety replay = ReplaySafety::repeatable;
  /// Not `none` if a higher layer has refused this call, as the limits of an agent's run do. Then no attempt is made, and
  /// observers are notified as of any refusal before the first attempt. (F1)
  StopReason refused = StopReason::none;
  const Scope* scope = nullptr;    ///< for idempotency keys and logs; null: the process's scope (I2)
  const Attempt* outer = nullptr;  ///< the attempt inside which this call is made, if on another thread (J2)
  /// Tells apart calls with the same id; not secret. A tool layer makes it from the tool's name and arguments. (I3)
  std::string_view signature{};

  /// Whether it makes one attempt only, not counting attempts that did not run, whatever the policy allows. (I1)
  constexpr bool runs_once() const noexcept { return replay >= ReplaySafety::never; }
  /// Whether it has a limit of its own, which must be checked before the first attempt.
  constexpr bool limits_itself() const noexcept {
    // For each of them the value without a limit is 0, so one comparison checks them together.
    return stop.watches() || (static_cast<unsigned>(deadline.has_value()) | static_cast<unsigned>(replay) |
                              static_cast<unsigned>(refused)) != 0;
  }
};

static_assert(ReplaySafety{} == ReplaySafety::repeatable && StopReason{} == StopReason::none);

/// A call in progress, with its id: the caller's, or one generated on first use. (A4)
/// May be read from several threads. Not copied: views of the generated id stay valid as long as it lives.
class CurrentCall {
 public:
  /// `around`: the mark of the attempt inside which the call is made, if on that attempt's thread. (J1)
  constexpr explicit CurrentCall(const Call& call, const shared::MarkedAttempt* around = nullptr) noexcept
      : call_{call},
        around_{around} {}
  CurrentCall(const CurrentCall&) = delete;
  CurrentCall& operator=(const CurrentCall&) = delete;

  constexpr const Call& call() const noexcept { return call_; }
  constexpr std::string_view id() const noexcept { return call_.id.empty() ? made_id() : call_.id; }
  constexpr std::string_view name() const noexcept { return call_.name; }
  Scope scope() const noexcept { return call_.scope != nullptr ? *call_.scope : Scope::process(); }
  /// The caller's operation key, if given; else a key that no other call has, fixed on first use: `<scope>/<call id>/<draw>`, or
  /// inside an attempt `<its key>/<call id>/<number>`. The number counts the calls with the same id (or, without ids, the same
  /// name) in that attempt. So give each inner call an id of its own if they run concurrently, or if a later attempt skips those
  /// already done. In ids, '/', '%' and everything but visible ASCII are percent-encoded, so that no two ids give the same key.
  /// Allocates. (I2)
  std::string idempotency_key() const;
  /// Whether it is made inside an attempt, as far as is known.
  constexpr bool is_inside() const noexcept { return call_.outer != nullptr || around_ != nullptr; }
  /// Called when a call begins inside an attempt: its number counts the calls made before it, not the keys asked for.
  void take_number() const noexcept;

 private:
  const Attempt* outer() const noexcept;
  /// A generated id would differ in each outer attempt.
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
  mutable char id_[28];  // written when the id is generated
  mutable std::uint8_t length_;
  mutable shared::MadeOnce id_made_{};
  mutable shared::MadeOnce key_settled_{};
  mutable shared::InnerNumbers inner_numbers_{};
  mutable std::uint64_t number_;  // of the key, once fixed: a draw, or that inside an attempt
};

}  // namespace encore

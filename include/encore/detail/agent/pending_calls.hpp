// The calls of a run that have no answer yet, and their keys.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/attempt.hpp>
#include <encore/detail/named.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/scope.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// The stop reason saved in a field; `none` if there is no such field. Throws `std::invalid_argument` for an unknown name.
inline StopReason stop_reason_in(const SavedLine& line, std::string_view field) {
  if (!line.has(field)) return StopReason::none;
  const auto name = line.text(field);
  if (const auto reason = stop_reason_named(name)) return *reason;
  refuse_setting(field, in_quotes(name), "is invalid: there is no such stop reason");
}

/// A call that was issued and has no answer yet. (I2)
struct PendingCall {
  /// The limits that have counted it: a call that is handed in again is not counted by them again. (H5)
  enum class Counted : std::uint8_t { by_none, with_its_turn, by_all };
  /// Whether it may have had its effect already. (I3)
  enum class Effect : std::uint8_t {
    none,         ///< as far as we know
    interrupted,  ///< it was under way when it was saved: unknown, and not reported
    unknown,      ///< its outcome is unknown, and was reported to be reconciled
  };

  std::string id{};
  CallSignature signature{0, 0};
  std::string key{};  ///< `<scope>/<call id>/<number>~<signature>`
  Counted counted = Counted::by_none;
  Effect effect = Effect::none;
  /// Why a limit of the run refused it, which also applies after a restart; `none` if it did not.
  StopReason refused = StopReason::none;
  bool under_way = true;  ///< being made now; else it was saved, or ended without an answer
  bool answered = false;  ///< as an unknown outcome: stored only for a restart

  friend bool operator==(const PendingCall&, const PendingCall&) = default;
};

/// The open calls of a run, in the order in which they were issued. A call with the same id, name and arguments as one that is
/// open and not under way *is* that call: each is resumed once. A call that was answered is not open in this run: the next call
/// that looks like it is another one. But if its outcome is unknown it is saved, and is open after a restart, like those under
/// way: a turn is made again there, because its answers may be lost. Thread-safe; not copyable. (I2)
class PendingCalls {
 public:
  /// More are stored only while they are under way: the oldest are forgotten, and would have another key if they were handed in
  /// again.
  static constexpr std::size_t max_stored = 4096;

  /// The open call that this one is, which is now under way again; null if this is a new call.
  PendingCall* resume(std::string_view id, const CallSignature& signature) noexcept {
    const std::lock_guard lock{mutex_};
    for (auto& open : calls_)
      if (!open.under_way && !open.answered && open.signature == signature && open.id == id) {
        open.under_way = true;
        return &open;
      }
    return nullptr;
  }
  /// Adds a new call, with the next number. The reference is valid until the call ends.
  PendingCall& issue(std::string_view id, const CallSignature& signature, const Scope& scope) {
    const std::lock_guard lock{mutex_};
    auto& open =
        calls_.emplace_back(PendingCall{.id = std::string{id}, .signature = signature, .key = scope.text()});
    append_key_part(open.key, id);
    open.key.append(1, '/').append(std::to_string(++issued_)).append(1, '~').append(signature.text());
    return open;
  }
  void counted(PendingCall& open, PendingCall::Counted by) noexcept {
    const std::lock_guard lock{mutex_};
    open.counted = by;
  }

  void refused(PendingCall& open, StopReason by) noexcept {
    const std::lock_guard lock{mutex_};
    open.refused = by;
  }

  void answered(const PendingCall& open) noexcept {
    const std::lock_guard lock{mutex_};
    calls_.remove_if([&](const PendingCall& one) { return &one == &open; });
  }
  /// It was answered, with an unknown outcome.
  void answered_as_unknown(PendingCall& open) noexcept {
    const std::lock_guard lock{mutex_};
    open.answered = true;
    open.effect = PendingCall::Effect::unknown;
    end(open);
  }
  /// It ended without an answer, and may be handed in again.
  void abandon(PendingCall& open, PendingCall::Effect effect = PendingCall::Effect::none) noexcept {
    const std::lock_guard lock{mutex_};
    open.effect = effect;
    end(open);
  }

  std::list<PendingCall> all() const {
    const std::lock_guard lock{mutex_};
    return calls_;
  }
  void new_run() noexcept {
    const std::lock_guard lock{mutex_};
    calls_.clear();
    issued_ = 0;
  }

  /// One line for the numbers, and one for each call.
  std::string save() const {
    const std::lock_guard lock{mutex_};
    auto text = StateLine{kind_of_all}
                    .add("issued", issued_)
                    .add("open", static_cast<std::int64_t>(calls_.size()))
                    .text() +
                '\n';
    for (const auto& open : calls_) {
      StateLine line{kind};
      line.add_bytes("id", open.id)
          .add("key", open.key)
          .add("counted", static_cast<std::int64_t>(open.counted))
          .add("effect", static_cast<std::int64_t>(effect_of(open)));
      if (open.refused != StopReason::none) line.add("refused", to_string(open.refused));
      text += line.text() + '\n';
    }
    return text;
  }
  /// Restores what was saved; none of those calls is under way. Throws `std::invalid_argument` for text that `save` did not
  /// write, and changes nothing then.
  void restore(std::string_view text) {
    const auto all = saved_line(text, kind_of_all);
    const auto issued = all.count("issued");
    std::list<PendingCall> calls;
    for (const auto& line : saved_lines(text, kind, all, "open")) {
      const auto key = line.text("key");
      const auto signature = CallSignature::from_text(key.substr(key.rfind('~') + 1));
      if (!signature)
        refuse_setting("key", in_quotes(key), "is invalid: a run's key must end in a call's signature");
      const auto counted = line.count("counted", 0, 2);
      const auto effect = line.has("effect") ? line.count("effect", 0, 2) : 0;
      calls.push_back({.id = line.bytes("id"),
                       .signature = *signature,
                       .key = std::string{key},
                       .counted = static_cast<PendingCall::Counted>(counted),
                       .effect = static_cast<PendingCall::Effect>(effect),
                       .refused = stop_reason_in(line, "refused"),
                       .under_way = false});
    }
    const std::lock_guard lock{mutex_};
    calls_.swap(calls);
    issued_ = issued;
  }

 private:
  static constexpr std::string_view kind{"pending_call"};
  static constexpr std::string_view kind_of_all{"calls"};

  void end(PendingCall& open) noexcept {
    open.under_way = false;
    for (auto oldest = calls_.begin(); calls_.size() > max_stored && oldest != calls_.end();)
      oldest = oldest->under_way ? std::next(oldest) : calls_.erase(oldest);
  }
  // What another process will know about it.
  static PendingCall::Effect effect_of(const PendingCall& open) noexcept {
    const auto interrupted =
        open.under_way && open.effect == PendingCall::Effect::none && open.refused == StopReason::none;
    return interrupted ? PendingCall::Effect::interrupted : open.effect;
  }

  mutable std::mutex mutex_;
  std::list<PendingCall> calls_;
  std::int64_t issued_ = 0;
};

}  // namespace ENCORE_BUILD::detail

// The calls of a run that have no answer yet, and the keys that they go on with.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/attempt.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/scope.hpp>
#include <encore/setting.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD {

/// A call that was issued and has no answer yet. (I2)
struct PendingCall {
  /// By which limits it was counted: one that comes back is counted by none of them again. (H5)
  enum class Counted : std::uint8_t { by_none, with_its_turn, by_all };

  std::string id{};
  CallSignature signature{0, 0};
  std::string key{};  ///< `<scope>/<call id>/<number>~<signature>`
  Counted counted = Counted::by_none;
  bool under_way = true;  ///< somebody is making it; else it was saved, or left without an answer

  friend bool operator==(const PendingCall&, const PendingCall&) = default;
};

/// The open calls of a run, in the order in which they were issued. A call of the same id, name and arguments as one that is
/// open and not under way *is* that call: each is gone on with once. Thread-safe; not copied. (I2)
class PendingCalls {
 public:
  /// More are kept only while they are under way: the oldest are forgotten, and would have another key if they came back.
  static constexpr std::size_t most_kept = 4096;

  /// The open call that this one is, which is under way from now on; null if it is a new one.
  PendingCall* come_back(std::string_view id, const CallSignature& signature) noexcept {
    const std::lock_guard lock{mutex_};
    for (auto& open : calls_)
      if (!open.under_way && open.signature == signature && open.id == id) {
        open.under_way = true;
        return &open;
      }
    return nullptr;
  }
  /// A new call, with the next number. Valid until it ends.
  PendingCall& issue(std::string_view id, const CallSignature& signature, const Scope& scope) {
    const std::lock_guard lock{mutex_};
    auto& open =
        calls_.emplace_back(PendingCall{.id = std::string{id}, .signature = signature, .key = scope.text()});
    detail::append_key_part(open.key, id);
    open.key.append(1, '/').append(std::to_string(++issued_)).append(1, '~').append(signature.text());
    return open;
  }
  void counted(PendingCall& open, PendingCall::Counted by) noexcept {
    const std::lock_guard lock{mutex_};
    open.counted = by;
  }

  void answered(const PendingCall& open) noexcept {
    const std::lock_guard lock{mutex_};
    calls_.remove_if([&](const PendingCall& one) { return &one == &open; });
  }
  /// It left without an answer, and may come back.
  void left(PendingCall& open) noexcept {
    const std::lock_guard lock{mutex_};
    open.under_way = false;
    for (auto oldest = calls_.begin(); calls_.size() > most_kept && oldest != calls_.end();)
      oldest = oldest->under_way ? std::next(oldest) : calls_.erase(oldest);
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

  /// A line for the numbers, and one for each call.
  std::string save() const {
    const std::lock_guard lock{mutex_};
    auto text = StateLine{kind_of_all}.add("issued", issued_).text() + '\n';
    for (const auto& open : calls_)
      text += StateLine{kind}
                  .add_bytes("id", open.id)
                  .add("key", open.key)
                  .add("counted", static_cast<std::int64_t>(open.counted))
                  .text() +
              '\n';
    return text;
  }
  /// Takes over what was saved: nobody makes those calls any more. Throws `std::invalid_argument` for text that is not what
  /// `save` wrote, and changes nothing then.
  void restore(std::string_view text) {
    const auto issued = saved_line(text, kind_of_all).count("issued");
    std::list<PendingCall> calls;
    for (const auto& line : saved_lines(text, kind)) {
      const auto key = line.text("key");
      const auto signature = CallSignature::from_text(key.substr(key.rfind('~') + 1));
      if (!signature)
        refuse_setting("key", in_quotes(key), "is refused: a run's key ends in a call's signature");
      const auto counted = line.count("counted");
      if (counted > static_cast<std::int64_t>(PendingCall::Counted::by_all))
        refuse_setting("counted", std::to_string(counted), "is refused: it must be from 0 to 2");
      calls.push_back({.id = line.bytes("id"),
                       .signature = *signature,
                       .key = std::string{key},
                       .counted = static_cast<PendingCall::Counted>(counted),
                       .under_way = false});
    }
    const std::lock_guard lock{mutex_};
    calls_.swap(calls);
    issued_ = issued;
  }

 private:
  static constexpr std::string_view kind{"pending_call"};
  static constexpr std::string_view kind_of_all{"calls"};

  mutable std::mutex mutex_;
  std::list<PendingCall> calls_;
  std::int64_t issued_ = 0;
};

}  // namespace encore ENCORE_BUILD

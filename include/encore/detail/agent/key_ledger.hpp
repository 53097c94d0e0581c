// Detects that one idempotency key stands for two different calls.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/setting.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

struct KeyLedgerOptions {
  /// The number of keys that are remembered, the latest ones, in about 100 bytes each. 4096: more than a run has calls with side
  /// effects.
  Count<"max_keys", 1> max_keys = 4096;
};

/// Remembers the call for which each of the latest keys was first used. It stores 128-bit hashes of keys and calls, so its memory
/// is bounded whatever a model writes. Thread-safe; not copyable.
class KeyLedger {
 public:
  KeyLedger() : KeyLedger{KeyLedgerOptions{}} {}
  explicit KeyLedger(const KeyLedgerOptions& options)
      : max_keys_{static_cast<std::size_t>(options.max_keys)} {}

  /// True if the key stands for this call, by its name and arguments. A new key does from now on.
  [[nodiscard]] bool stands_for(std::string_view key, const IssuedCall& call) {
    const CallSignature of_key{{.signature = key}};
    const CallSignature of_call{call};
    const std::lock_guard lock{mutex_};
    const auto [known, is_new] = calls_.try_emplace({of_key.high(), of_key.low()}, of_call);
    if (is_new) {
      order_.push_back(known->first);
      forget_the_oldest();
    }
    return known->second == of_call;
  }

  std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return order_.size();
  }

  /// One line of hashes, for `restore`.
  std::string save() const {
    std::vector<std::string> keys;
    std::vector<std::string> calls;
    const std::lock_guard lock{mutex_};
    for (const auto& key : order_) {
      keys.push_back(CallSignature{key.first, key.second}.text());
      calls.push_back(calls_.at(key).text());
    }
    return StateLine{kind}.add("keys", keys).add("calls", calls).text() + '\n';
  }
  /// Throws `std::invalid_argument` for text that `save` did not write, and changes nothing then.
  void restore(std::string_view text) {
    const auto line = saved_line(text, kind);
    const auto keys = signatures_in(line, "keys");
    const auto calls = signatures_in(line, "calls");
    if (keys.size() != calls.size())
      refuse_setting("calls", std::to_string(calls.size()) + " values",
                     "is invalid: there must be " + std::to_string(keys.size()) + ", one for each key");
    std::map<Hash, CallSignature> known;
    std::deque<Hash> order;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Hash key{keys[i].high(), keys[i].low()};
      if (known.try_emplace(key, calls[i]).second) order.push_back(key);
    }
    const std::lock_guard lock{mutex_};
    calls_.swap(known);
    order_.swap(order);
    forget_the_oldest();
  }

 private:
  static constexpr std::string_view kind{"keys"};
  using Hash = std::pair<std::uint64_t, std::uint64_t>;

  void forget_the_oldest() {
    for (; order_.size() > max_keys_; order_.pop_front()) calls_.erase(order_.front());
  }

  const std::size_t max_keys_;
  mutable std::mutex mutex_;
  std::map<Hash, CallSignature> calls_;
  std::deque<Hash> order_;
};

}  // namespace ENCORE_BUILD::detail

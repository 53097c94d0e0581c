// A bounded table with a value for each name, lazily constructed, with lock-free lookup.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// A table whose values are constructed from `Settings` and never removed, so references to them stay valid. Names beyond the first
/// `max_names` share one value. Thread-safe: looking up a known name takes no lock and writes nothing; adding one takes a lock.
template <class Value, class Settings>
class NameTable {
 public:
  NameTable(int max_names, const Settings& settings)
      : max_names_{max_names},
        settings_{settings},
        chains_(std::bit_ceil(shared::smaller_of(static_cast<std::size_t>(max_names), max_chains))),
        rest_{settings} {}
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  ~NameTable() {
    for (auto& chain : chains_) delete_all(chain.load(std::memory_order_relaxed));
  }

  /// The value of a name, constructed if it is new, or the shared one if the table is full.
  Value& operator[](std::string_view name) {
    auto& chain = chain_of(name);
    if (auto* const known = find(chain, name)) return known->value;
    return add(chain, name);
  }
  /// The value of a name, or the shared one; constructs nothing.
  const Value& at(std::string_view name) const {
    const auto* const known = find(chain_of(name), name);
    return known != nullptr ? known->value : rest_;
  }
  /// The value that names beyond `max_names` share.
  const Value& rest() const noexcept { return rest_; }

  /// Calls `use(std::string_view name, Value&)` for every name with its own value, in no particular order.
  template <class Use>
  void for_each(Use&& use) {
    for (auto& chain : chains_)
      for (auto* entry = chain.load(std::memory_order_acquire); entry != nullptr; entry = entry->next)
        use(std::string_view{entry->name}, entry->value);
  }
  template <class Use>
  void for_each(Use&& use) const {
    for (auto& chain : chains_)
      for (const auto* entry = chain.load(std::memory_order_acquire); entry != nullptr; entry = entry->next)
        use(std::string_view{entry->name}, entry->value);
  }

 private:
  // Published entries never change and chains grow only at their heads, so readers need no lock.
  struct Entry {
    Entry(std::string_view called, const Settings& settings, Entry* others)
        : name{called},
          value{settings},
          next{others} {}
    const std::string name;
    Value value;
    Entry* const next;
  };
  using Chain = std::atomic<Entry*>;

  static void delete_all(Entry* entry) {
    while (entry != nullptr) {
      const std::unique_ptr<Entry> last{entry};
      entry = last->next;
    }
  }
  Chain& chain_of(std::string_view name) const noexcept {
    return chains_[std::hash<std::string_view>{}(name) & (chains_.size() - 1)];
  }
  static Entry* find(const Chain& chain, std::string_view name) noexcept {
    auto* entry = chain.load(std::memory_order_acquire);
    while (entry != nullptr && entry->name != name) entry = entry->next;
    return entry;
  }

  ENCORE_COLD Value& add(Chain& chain, std::string_view name) {
    if (is_full()) {
      auto* const known = find(chain, name);
      return known != nullptr ? known->value : rest_;
    }
    const std::lock_guard lock{mutex_};
    if (auto* const known = find(chain, name)) return known->value;
    if (is_full()) return rest_;
    auto* const entry = new Entry{name, settings_, chain.load(std::memory_order_relaxed)};
    chain.store(entry, std::memory_order_release);
    names_.fetch_add(1, std::memory_order_release);
    return entry->value;
  }
  bool is_full() const noexcept { return names_.load(std::memory_order_acquire) >= max_names_; }

  static constexpr std::size_t max_chains = 65'536;  // half a megabyte

  const int max_names_;
  const Settings settings_;
  mutable std::vector<Chain> chains_;
  std::mutex mutex_;  // held while an entry is added
  std::atomic<int> names_{0};
  Value rest_;
};

}  // namespace ENCORE_BUILD::detail

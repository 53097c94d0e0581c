// A value for each name, made when the name is first seen: looked up without a lock, and never more than so many.
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

/// A table whose values are made of `Settings` and never removed, so references to them stay valid. Names beyond the first so
/// many share one value, so that the table does not grow without a bound. Thread-safe. A name is looked up without a lock or a
/// write; a lock is taken when it is first seen.
template <class Value, class Settings>
class NameTable {
 public:
  NameTable(int max_names, const Settings& settings)
      : most_names_{max_names},
        settings_{settings},
        chains_(std::bit_ceil(smaller_of(static_cast<std::size_t>(max_names), max_chains))),
        rest_{settings} {}
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  ~NameTable() {
    for (auto& chain : chains_) delete_all(chain.load(std::memory_order_relaxed));
  }

  /// The value of a name, made if there is none yet, or the shared one if there is no room.
  Value& operator[](std::string_view name) {
    auto& chain = chain_of(name);
    if (auto* const known = find(chain, name)) return known->value;
    return add(chain, name);
  }
  /// The value that a name has or shares now; nothing is made.
  const Value& at(std::string_view name) const {
    const auto* const known = find(chain_of(name), name);
    return known != nullptr ? known->value : rest_;
  }
  /// The one that names beyond the first so many share.
  const Value& rest() const noexcept { return rest_; }

  /// Calls `use(std::string_view name, Value&)` for every name that has a value of its own, in no order.
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
  // An entry never changes once others can see it, and a chain only grows at its head: readers need no lock.
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
  bool is_full() const noexcept { return names_.load(std::memory_order_acquire) >= most_names_; }

  static constexpr std::size_t max_chains = 65'536;  // half a megabyte, however many names there may be

  const int most_names_;
  const Settings settings_;
  mutable std::vector<Chain> chains_;
  std::mutex mutex_;  // held while an entry is added
  std::atomic<int> names_{0};
  Value rest_;
};

}  // namespace ENCORE_BUILD::detail

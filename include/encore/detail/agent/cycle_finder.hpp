// Finds out whether a growing sequence ends in repetitions of one pattern.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/setting.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::detail {

/// Watches a sequence for a cycle: a pattern of at most `max_cycle_len` entries that fills the end of the sequence `repeats`
/// times in a row. It stores `max_cycle_len` entries and one number for each length, and compares each new entry only with those:
/// time and memory do not grow with the sequence. Not thread-safe. (H6)
///
/// For each length n it counts how many of the latest entries equal the one n places before them; the end is a cycle of n once
/// that run has n · (repeats − 1) entries. The shortest such n is a primitive pattern, not a repetition of a shorter one.
template <class Entry>
class CycleFinder {
 public:
  using Repeats = Count<"repeats", 2>;
  using MaxCycleLen = Count<"max_cycle_len", 1>;

  CycleFinder(Repeats repeats, MaxCycleLen max_cycle_len) noexcept
      : repeats_{repeats},
        max_cycle_len_{static_cast<std::size_t>(int{max_cycle_len})} {}

  void push(Entry entry) {
    const auto grows = entries_.size() < max_cycle_len_;
    if (grows) {
      reserve_one(entries_);
      reserve_one(runs_);
      runs_.push_back(0);
    }
    for (std::size_t n = 1; n <= entries_.size(); ++n)
      runs_[n - 1] = entry == before_end(n) ? runs_[n - 1] + 1 : 0;
    if (grows) {
      entries_.push_back(std::move(entry));
    } else {
      entries_[oldest_] = std::move(entry);
      oldest_ = (oldest_ + 1) % max_cycle_len_;
    }
  }

  /// The length of the shortest cycle in which the sequence ends and whose first entry satisfies `matches`; 0 if there is none.
  template <class Matches>
  [[nodiscard]] std::size_t find(Matches&& matches) const {
    for (std::size_t n = 1; n <= entries_.size(); ++n)
      if (times(n) >= repeats_ && matches(before_end(n))) return n;
    return 0;
  }

  /// The `n`th entry from the end, from 1 to `size()`.
  const Entry& before_end(std::size_t n) const noexcept {
    return entries_[(oldest_ + entries_.size() - n) % entries_.size()];
  }
  /// How often the last `n` entries are repeated in a row at the end.
  std::int64_t times(std::size_t n) const noexcept { return runs_[n - 1] / static_cast<std::int64_t>(n) + 1; }

  /// The number of stored entries.
  std::size_t size() const noexcept { return entries_.size(); }

  /// For each length from 1 to `size()`, the number of latest entries that equal the one this many places before them.
  const std::vector<std::int64_t>& runs() const noexcept { return runs_; }

  /// Restores the entries of another finder, oldest first, and its runs, one for each entry. If there are too many, the latest
  /// entries and the shortest lengths are kept.
  void restore(std::vector<Entry> entries, std::vector<std::int64_t> runs) {
    if (entries.size() > max_cycle_len_) {
      entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(max_cycle_len_));
      runs.resize(max_cycle_len_);
    }
    entries_ = std::move(entries);
    runs_ = std::move(runs);
    oldest_ = 0;
  }
  void clear() noexcept {
    entries_.clear();
    runs_.clear();
    oldest_ = 0;
  }

 private:
  // First, so that a push that runs out of memory changes nothing.
  template <class T>
  static void reserve_one(std::vector<T>& values) {
    if (values.size() == values.capacity()) values.reserve(2 * values.size() + 1);
  }

  std::int64_t repeats_;
  std::size_t max_cycle_len_;
  std::vector<Entry> entries_;  // a ring, once it is full
  std::size_t oldest_ = 0;
  std::vector<std::int64_t> runs_;
};

}  // namespace ENCORE_BUILD::detail

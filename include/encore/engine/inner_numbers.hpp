// The numbers of the calls that are made inside an attempt.
#pragma once
#include <encore/detail/random.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encore::shared {

/// Numbers the calls inside the attempts of one call from 1, anew in each attempt and for each id by itself: so that a call's
/// number does not depend on which others were made beside it, or in which order. Of an attempt with more ids than `room`
/// those beyond share one count. Thread-safe, allocates nothing, and writes one byte until it is first asked. (I2)
class InnerNumbers {
 public:
  static constexpr std::size_t room = 6;

  constexpr InnerNumbers() noexcept {}  // what is not written stays as it is
  InnerNumbers(const InnerNumbers&) = delete;
  InnerNumbers& operator=(const InnerNumbers&) = delete;

  std::uint64_t next(int ordinal, std::string_view id) noexcept {
    auto before = state_.exchange(busy, std::memory_order_acquire);
    for (; before == busy; before = state_.exchange(busy, std::memory_order_acquire))
      state_.wait(busy, std::memory_order_relaxed);
    if (before == unused || ordinal_ != ordinal) {
      ordinal_ = ordinal;
      ids_ = 0;
      counts_[room] = 0;
    }
    const auto number = ++counts_[place_of(static_cast<std::uint32_t>(stream_of(0, id)))];
    state_.store(free, std::memory_order_release);
    state_.notify_one();
    return number;
  }

 private:
  enum State : std::uint8_t { unused, free, busy };

  // Two ids of one hash share a count, which is still no number twice.
  std::size_t place_of(std::uint32_t hash) noexcept {
    std::size_t place = 0;
    while (place < ids_ && hashes_[place] != hash) ++place;
    if (place == ids_ && place < room) {
      hashes_[ids_++] = hash;
      counts_[place] = 0;
    }
    return place;
  }

  std::atomic<std::uint8_t> state_{unused};
  std::uint8_t ids_;
  int ordinal_;
  std::uint32_t hashes_[room];
  std::uint32_t counts_[room + 1];  // the last one is shared
};

}  // namespace encore::shared

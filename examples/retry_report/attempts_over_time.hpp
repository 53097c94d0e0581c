// How many attempts there were, and when.
#pragma once
#include <encore/analysis/traced_call.hpp>
#include <encore/duration.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

/// Counts attempts in columns of equal width in time. The columns grow wider as the log grows longer, so that there are never more
/// than `max_columns`; the memory does not grow with the log.
class AttemptsOverTime {
 public:
  static constexpr std::int64_t max_columns = 120;
  struct Column {
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t unknown = 0;
    std::uint64_t all() const noexcept { return succeeded + failed + unknown; }
    friend bool operator==(const Column&, const Column&) = default;
  };

  void add(const encore::TracedCall& call);

  /// By number; a column begins at its number × `width` since 1970. Those without an attempt are left out.
  const std::map<std::int64_t, Column>& columns() const noexcept { return columns_; }
  encore::Duration width() const noexcept { return width_; }
  /// Attempts in no column: the log does not say when they were.
  std::uint64_t without_time() const noexcept { return without_time_; }

 private:
  void widen();

  std::map<std::int64_t, Column> columns_;
  encore::Duration width_ = std::chrono::milliseconds{1};
  std::uint64_t without_time_ = 0;
};

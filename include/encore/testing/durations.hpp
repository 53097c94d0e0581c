// A list of sleeps or waits, to compare and to print.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::testing {

namespace detail {

/// A duration of any unit as an element of a list.
struct AnyDuration {
  Duration value;
  template <class Rep, class Period>
  constexpr AnyDuration(std::chrono::duration<Rep, Period> duration) noexcept
      : value{to_duration(duration)} {}
};

}  // namespace detail

/// A vector of durations that is written with mixed units, and printed readably when a test fails.
///   CHECK(clock.sleeps() == Durations{250ms, 1s});
class Durations : public std::vector<Duration> {
 public:
  Durations() = default;
  Durations(std::initializer_list<detail::AnyDuration> durations) {
    reserve(durations.size());
    for (const auto& duration : durations) push_back(duration.value);
  }
  explicit Durations(std::vector<Duration> durations) noexcept : vector{std::move(durations)} {}

  /// The sum, clamped to the range of `Duration`. (C7)
  Duration total() const noexcept {
    TimePoint end{};
    for (const auto duration : *this) end = later(end, duration);
    return end.time_since_epoch();
  }

  friend std::string to_string(const Durations& durations) {
    std::string text{"{"};
    for (const auto duration : durations)
      text.append(text.size() > 1 ? ", " : " ").append(encore::detail::duration_text(duration));
    return text.append(durations.empty() ? "}" : " }");
  }
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      const Durations& durations) {
    return out << to_string(durations);
  }
};

}  // namespace ENCORE_BUILD::testing

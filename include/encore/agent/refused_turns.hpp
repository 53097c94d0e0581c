// When a run ends whose model goes on although nothing that it calls can be called.
#pragma once
#include <encore/agent/refusal.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// However many turns.
struct UnlimitedTurns {};

/// At most so many turns, at least 1, or any number.
template <FieldName Field>
class TurnLimit {
 public:
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr TurnLimit(T most) : most_{Count<Field, 1>{most}} {}
  constexpr TurnLimit(UnlimitedTurns) noexcept {}
  constexpr bool reached_by(std::int64_t turns) const noexcept { return most_ && turns >= *most_; }

 private:
  std::optional<int> most_{};
};

/// A run is over after so many turns in a row in which the model called tools and no call could be made: three that its limits
/// refused, or that were of tools that do not exist. Refusals that pass by themselves, as an open breaker's and a deadline's,
/// have a number of their own, so that a short outage ends no run; to it counts also a turn in which calls that had left
/// without an answer came back, and left again. For a `ToolRun`; the counts are saved with it. (H9)
///   ToolRun run{tools, CallLimit{.run_limit = 20}, RefusedTurns{.by_limits = 5, .passing = UnlimitedTurns{}}};
struct RefusedTurns {
  TurnLimit<"by_limits"> by_limits = 3;
  TurnLimit<"passing"> passing = 20;
};

namespace detail {

/// What became of a turn's calls, for such a count.
enum class TurnOutcome : std::uint8_t {
  made,     ///< at least one of them
  refused,  ///< all of them, by the run's limits or because there is no such tool
  passing,  ///< all of them, and another time some may be made
};

/// The turns in a row in which no call was made. Thread-safe; not copied. (H9)
class RefusedTurnCount {
 public:
  /// Counts a turn, and gives the end of the run if it was the last. `last` is why its last call was refused.
  std::optional<Refusal> add(TurnOutcome outcome, StopReason last, const RefusedTurns& limits) {
    const std::lock_guard lock{mutex_};
    if (outcome == TurnOutcome::made) {
      refused_ = passing_ = 0;
      return std::nullopt;
    }
    ++(outcome == TurnOutcome::refused ? refused_ : passing_);
    if (!limits.by_limits.reached_by(refused_) && !limits.passing.reached_by(passing_)) return std::nullopt;
    return Refusal{.reason = StopReason::run_over,
                   .to_model = not_called({}, "the run is over."),
                   .to_person = "no call could be made in " + std::to_string(refused_ + passing_) +
                                " turns in a row, the last because of " + std::string{to_string(last)},
                   .ends_run = true};
  }
  void new_run() noexcept {
    const std::lock_guard lock{mutex_};
    refused_ = passing_ = 0;
  }

  std::string save() const {
    const std::lock_guard lock{mutex_};
    return StateLine{kind}.add("refused", refused_).add("passing", passing_).text() + '\n';
  }
  /// Throws `std::invalid_argument` for text that is not what `save` wrote, and changes nothing then.
  void restore(std::string_view text) {
    const auto line = saved_line(text, kind);
    const auto refused = line.count("refused");
    const auto passing = line.count("passing");
    const std::lock_guard lock{mutex_};
    refused_ = refused;
    passing_ = passing;
  }

 private:
  static constexpr std::string_view kind{"refused_turns"};

  mutable std::mutex mutex_;
  std::int64_t refused_ = 0;
  std::int64_t passing_ = 0;
};

}  // namespace detail

}  // namespace encore ENCORE_BUILD

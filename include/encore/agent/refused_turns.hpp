// Ends a run whose model keeps calling tools although no call can be made.
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

/// No limit on the number of turns.
struct UnlimitedTurns {};

namespace detail {

/// A limit on turns, at least 1, or no limit.
template <FieldName Field>
class TurnLimit {
 public:
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr TurnLimit(T max) : max_{Count<Field, 1>{max}} {}
  constexpr TurnLimit(UnlimitedTurns) noexcept {}
  constexpr bool reached_by(std::int64_t turns) const noexcept { return max_ && turns >= *max_; }

 private:
  std::optional<int> max_{};
};

}  // namespace detail

/// Ends a run after this many turns in a row in which the model called tools and no call could be made: three turns whose calls
/// the run's limits refused, or that called tools that do not exist. Temporary refusals, such as those of an open breaker or a
/// deadline, have their own limit, so that a short outage ends no run; it also counts turns in which unanswered calls were handed
/// in again and ended without an answer again. For a `ToolRun`, which saves the counts. (H9)
///   ToolRun run{tools, CallLimit{.run_limit = 20}, RefusedTurns{.by_limits = 5, .passing = UnlimitedTurns{}}};
struct RefusedTurns {
  detail::TurnLimit<"by_limits"> by_limits = 3;
  detail::TurnLimit<"passing"> passing = 20;  ///< refusals that pass by themselves
};

namespace detail {

/// What happened to the calls of a turn.
enum class TurnOutcome : std::uint8_t {
  made,     ///< at least one was made
  refused,  ///< all were refused, by the run's limits or because there is no such tool
  passing,  ///< all were refused, and some may be admitted later
};

/// Counts the turns in a row in which no call was made. Thread-safe; not copyable. (H9)
class RefusedTurnCount {
 public:
  /// Counts a turn, and returns a refusal if that ends the run. `last` is why the turn's last call was refused.
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
  /// Throws `std::invalid_argument` for text that `save` did not write, and changes nothing then.
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

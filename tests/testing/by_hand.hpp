// An attempt without a policy: for tests of what is called with one.
#pragma once
#include <encore/attempt.hpp>
#include <encore/call.hpp>
#include <encore/clock.hpp>

#include <string_view>

namespace by_hand {

struct AttemptOf {
  explicit AttemptOf(const encore::Call& with, int ordinal = 1)
      : call{with},
        attempt{ordinal, current, notes, limits, now} {}
  explicit AttemptOf(std::string_view id, int ordinal = 1) : AttemptOf{encore::Call{.id = id}, ordinal} {}
  operator const encore::Attempt&() const noexcept { return attempt; }

  encore::Call call;
  encore::SteadyClock clock{};
  encore::Now now{clock};
  encore::CurrentCall current{call};
  encore::AttemptNotes notes{};
  encore::TimeLimits limits{};
  encore::Attempt attempt;
};

}  // namespace by_hand

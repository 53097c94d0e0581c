// Which calls of a log are drawn.
#pragma once
#include <encore/analysis/finding.hpp>
#include <encore/analysis/traced_call.hpp>
#include <encore/duration.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// A call with what was found of it, the gravest first.
struct Lane {
  encore::TracedCall call{};
  std::vector<encore::FindingKind> findings{};
};

/// Picks a bounded number of calls: of each kind of finding the first ones, the gravest kinds first, one of each in turn; then
/// calls of which nothing was found. Those are the ids that a diagnosis names. The memory it takes does not grow with the log.
class LaneChoice {
 public:
  /// The limits apply to calls whose log has none.
  LaneChoice(std::size_t max_lanes, std::optional<int> max_attempts, std::optional<encore::Duration> deadline)
      : max_lanes_{max_lanes},
        max_attempts_{max_attempts},
        deadline_{deadline} {}

  void add(const encore::TracedCall& call);

  /// In the order in which they began.
  std::vector<Lane> lanes() const;
  /// How many calls there were to choose from.
  std::uint64_t calls() const noexcept { return calls_; }

 private:
  static constexpr std::size_t no_finding = encore::finding_kind_count;
  using Shared = std::shared_ptr<const Lane>;

  std::size_t max_lanes_;
  std::optional<int> max_attempts_;
  std::optional<encore::Duration> deadline_;
  std::array<std::vector<Shared>, encore::finding_kind_count + 1> first_{};  // by kind
  bool policy_reported_ = false;
  std::uint64_t calls_ = 0;
};

#include "lane_choice.hpp"

#include <encore/analysis/call_findings.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace {

using encore::FindingKind;

constexpr std::size_t max_stored_size = 1'200;  // bytes: more than is drawn

void cut(std::string& text) {
  if (text.size() > max_stored_size) text.resize(max_stored_size), text.shrink_to_fit();
}

/// The call without what is not drawn.
encore::TracedCall kept(encore::TracedCall call) {
  if (call.reported_by_policy) call.requests.clear();
  for (auto* const text :
       {&call.scope, &call.id, &call.tool, &call.resolved_name, &call.error_type, &call.outer_id})
    cut(*text);
  for (auto* const attempts : {&call.attempts, &call.requests})
    for (auto& attempt : *attempts) cut(attempt.error_type), cut(attempt.message), cut(attempt.request_id);
  return call;
}

}  // namespace

void LaneChoice::add(const encore::TracedCall& call) {
  if (!call.reported_by_policy && call.request_count == 0) return;  // known only as the outer call of others
  ++calls_;
  policy_reported_ = policy_reported_ || call.reported_by_policy;

  std::vector<FindingKind> findings;
  encore::Finding unused;
  encore::CallFindings{call, max_attempts_, deadline_}.report(
      [&](FindingKind kind, std::string_view) -> encore::Finding& {
        findings.push_back(kind);
        return unused = {};
      });
  std::sort(findings.begin(), findings.end());

  Shared lane;
  const auto offer = [&](std::vector<Shared>& to) {
    if (to.size() >= max_lanes_) return;
    if (!lane) lane = std::make_shared<const Lane>(Lane{kept(call), findings});
    to.push_back(lane);
  };
  for (const auto kind : findings) offer(first_[static_cast<std::size_t>(kind)]);
  if (findings.empty()) offer(first_[no_finding]);
}

std::vector<Lane> LaneChoice::lanes() const {
  std::vector<Lane> chosen;
  std::set<std::pair<std::uint64_t, std::string_view>>
      taken;  // by the first record; the nameless have one each
  // A call is known to have bypassed the policies only if policies reported others.
  const auto says_nothing = [&](std::size_t kind) {
    return kind == static_cast<std::size_t>(FindingKind::never_reached_policy) && !policy_reported_;
  };
  const auto take = [&](const Lane& lane) {
    if (chosen.size() >= max_lanes_ || !taken.emplace(lane.call.first_record, lane.call.id).second) return;
    chosen.push_back(lane);
    if (!policy_reported_) std::erase(chosen.back().findings, FindingKind::never_reached_policy);
  };
  for (std::size_t turn = 0; turn < max_lanes_ && chosen.size() < max_lanes_; ++turn)
    for (std::size_t kind = 0; kind < no_finding; ++kind)
      if (turn < first_[kind].size() && !says_nothing(kind)) take(*first_[kind][turn]);
  for (const std::size_t kind : {static_cast<std::size_t>(FindingKind::never_reached_policy), no_finding})
    for (const auto& lane : first_[kind]) take(*lane);

  std::sort(chosen.begin(), chosen.end(), [](const Lane& a, const Lane& b) {
    return std::tuple{a.call.began_at, a.call.first_record} <
           std::tuple{b.call.began_at, b.call.first_record};
  });
  return chosen;
}

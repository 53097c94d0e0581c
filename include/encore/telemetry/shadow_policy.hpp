// Observation only: what another policy would have done with the same calls.
#pragma once
#include <encore/detail/extremes.hpp>
#include <encore/detail/lru_map.hpp>
#include <encore/detail/name_table.hpp>
#include <encore/duration.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/engine/verdict.hpp>
#include <encore/event.hpp>
#include <encore/failure.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/shadow_counts.hpp>
#include <encore/telemetry/tool_counts.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

struct ShadowOptions {
  Count<"max_tools", 1> max_tools = 200;  ///< further tools are counted as `other_tools`
  Count<"max_open", 1> max_open =
      10'000;  ///< active calls that the candidate would have stopped; the oldest are given up
};

/// An observer that evaluates a candidate policy on each failure without changing the call, and counts where the candidate would have
/// decided differently: by its filter, attempt limit, time budget or cap for hints. Use it to decide on a rollout.
///   ShadowPolicy shadow{lookup_policy.with(RetryOn<TimeoutError>{}, MaxRetries{1}, TimeBudget{2s})};
///   const auto watched = lookup_policy.with(shadow);
///   ...
///   for (const ShadowCounts& tool : shadow.counts()) ...
/// The candidate is evaluated on the attempts, failures and waits of the policy that runs. Its own waits, guards, observers, strategy
/// and filter for returned values are ignored (for the latter use `ShadowPredicate`). Thread-safe. A call that succeeds at once costs
/// one addition, and one clock reading if the candidate has a time budget; others take a lock. Concurrent calls need different ids.
template <class Candidate>
class ShadowPolicy {
 public:
  using role = encore::role::Observer;
  explicit ShadowPolicy(Candidate candidate, const ShadowOptions& options = {})
      : candidate_{std::move(candidate)},
        options_{options},
        tools_{options.max_tools, options} {}
  ShadowPolicy(const ShadowPolicy&) = delete;
  ShadowPolicy& operator=(const ShadowPolicy&) = delete;

  void operator()(const Event& event) {
    switch (event.kind) {
      case EventKind::attempt_started:
        // Reads the start time, so that a later failure has the elapsed time.
        if (event.ordinal == 1 && candidate_.time_budget()) static_cast<void>(event.at());
        return;
      case EventKind::attempt_succeeded: return;
      case EventKind::attempt_failed: return attempt_failed(event);
      case EventKind::call_finished: return call_finished(event);
    }
  }

  /// The counts so far, sorted by tool. A call counts when it ends.
  std::vector<ShadowCounts> counts() const {
    std::vector<ShadowCounts> all;
    tools_.for_each([&](std::string_view name, const Tool& tool) { all.push_back(tool.read(name)); });
    if (tools_.rest().calls.load(std::memory_order_relaxed) > 0)
      all.push_back(tools_.rest().read(other_tools));
    std::sort(all.begin(), all.end(),
              [](const ShadowCounts& a, const ShadowCounts& b) { return a.tool < b.tool; });
    return all;
  }
  /// How many calls that the candidate would have stopped were given up because too many were open: they are not counted.
  std::uint64_t given_up() const noexcept { return given_up_.load(std::memory_order_relaxed); }

 private:
  using Number = std::atomic<std::uint64_t>;
  struct Tool {
    explicit Tool(const ShadowOptions&) noexcept {}
    Number calls{0}, stopped_sooner{0}, attempts_avoided{0}, waits_avoided{0}, recoveries_lost{0}, gone_on{0};
    std::array<Number, stop_reason_count> sooner_because{};

    ShadowCounts read(std::string_view name) const {
      const auto value = [](const Number& number) { return number.load(std::memory_order_relaxed); };
      ShadowCounts counts{.tool = std::string{name},
                          .calls = value(calls),
                          .stopped_sooner = value(stopped_sooner),
                          .attempts_avoided = value(attempts_avoided),
                          .waits_avoided = Duration{static_cast<Duration::rep>(value(waits_avoided))},
                          .recoveries_lost = value(recoveries_lost),
                          .gone_on = value(gone_on)};
      for (std::size_t i = 0; i < stop_reason_count; ++i) counts.sooner_because[i] = value(sooner_because[i]);
      return counts;
    }
  };
  /// A call that the candidate would have stopped.
  struct Stopped {
    std::size_t key_hash = 0;
    int after = 0;  ///< so many attempts
    StopReason reason = StopReason::none;
    Duration waits{};
  };

  static void add(Number& number, std::uint64_t count = 1) noexcept {
    number.fetch_add(count, std::memory_order_relaxed);
  }
  Tool& tool_of(const Event& event) {
    return tools_[event.resolved_name.empty() ? event.call_name : event.resolved_name];
  }
  static std::string key_of(const Event& event) {
    std::string key{event.call_id()};
    const auto run = std::bit_cast<std::array<char, sizeof event.run_scope>>(event.run_scope);
    return key.append(run.data(), run.size());
  }

  static std::size_t hash_of(std::string_view key) noexcept { return std::hash<std::string_view>{}(key); }

  // The point where the candidate would have stopped is lost, so the rest of the call is not counted. Calls that never end could
  // fill the set; it is then cleared.
  void give_up(const Stopped& call) {
    add(given_up_);
    if (forgotten_.size() >= 8 * static_cast<std::size_t>(options_.max_open)) forgotten_.clear();
    forgotten_.insert(call.key_hash);
  }

  void attempt_failed(const Event& event) {
    if (!event.will_retry && !is_a_matter_of_settings(event.reason)) return;
    if (event.thrown == nullptr && is_a_matter_of_the_filter(event.reason))
      return;  // filters for values are not evaluated
    const auto verdict = judge(event);
    if (!event.will_retry) {
      if (verdict == StopReason::none) add(tool_of(event).gone_on);
      return;
    }
    const std::lock_guard lock{mutex_};
    const auto key = key_of(event);
    auto* open = open_.find(key);
    if (open == nullptr && verdict != StopReason::none && !forgotten_.contains(hash_of(key))) {
      if (open_.size() >= static_cast<std::size_t>(options_.max_open)) give_up(open_.take_oldest());
      open = &open_.touch(key);
      *open = {.key_hash = hash_of(key), .after = event.ordinal, .reason = verdict};
    }
    if (open != nullptr) open->waits += event.wait;
  }

  void call_finished(const Event& event) {
    auto& tool = tool_of(event);
    add(tool.calls);
    if (event.ordinal == 0 || (event.ordinal == 1 && event.reason == StopReason::succeeded)) return;
    const std::lock_guard lock{mutex_};
    const auto key = key_of(event);
    forgotten_.erase(hash_of(key));
    if (open_.find(key) == nullptr) return;
    const auto stopped = open_.take(key);
    add(tool.stopped_sooner);
    add(tool.sooner_because[static_cast<std::size_t>(stopped.reason)]);
    add(tool.attempts_avoided, static_cast<std::uint64_t>(event.ordinal - stopped.after));
    add(tool.waits_avoided,
        static_cast<std::uint64_t>(shared::smaller_of(stopped.waits, event.slept).count()));
    if (event.reason == StopReason::succeeded) add(tool.recoveries_lost);
  }

  static constexpr bool is_a_matter_of_the_filter(StopReason reason) noexcept {
    return category(reason) == StopCategory::not_matched && reason != StopReason::predicate_threw;
  }
  /// Could a policy with other settings have gone on?
  static constexpr bool is_a_matter_of_settings(StopReason reason) noexcept {
    const auto its = category(reason);
    return is_a_matter_of_the_filter(reason) || its == StopCategory::exhausted ||
           its == StopCategory::out_of_time;
  }

  /// `none` if the candidate would retry, else its stop reason, checked in a policy's order.
  StopReason judge(const Event& event) const {
    if (event.thrown != nullptr) {
      const auto verdict = detail::judge(policy_parts(candidate_), *event.thrown);
      if (verdict != StopReason::none) return verdict;
    }
    struct Facts {
      const Candidate& candidate;
      const Event& event;
      bool attempts_used_up() const { return event.ordinal > candidate.max_retries(); }
      static bool stop_requested() { return false; }
      std::optional<Duration> hint() const { return event.hint; }
      Duration wait_after(const std::optional<Duration>&) const {
        return event.wait;
      }  // that of the policy that runs
      std::optional<Duration> time_left() const {
        const auto budget = candidate.time_budget();
        const auto elapsed = budget ? event.elapsed() : std::nullopt;
        if (!elapsed) return std::nullopt;
        return shared::larger_of(*budget - *elapsed, Duration::zero());
      }
    };
    std::optional<Duration> hint;
    Duration wait{};
    return detail::next_attempt(policy_parts(candidate_), Facts{candidate_, event}, hint, wait);
  }

  const Candidate candidate_;
  const ShadowOptions options_;
  detail::NameTable<Tool, ShadowOptions> tools_;
  std::mutex mutex_;
  detail::LruMap<Stopped> open_;  // under the mutex
  std::unordered_set<std::size_t>
      forgotten_;  // the keys of calls that were given up and have not ended; under the mutex
  Number given_up_{0};
};

}  // namespace encore ENCORE_BUILD

// An observer that counts calls and attempts for each tool.
#pragma once
#include <encore/detail/name_table.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/valid_utf8.hpp>
#include <encore/duration.hpp>
#include <encore/event.hpp>
#include <encore/observer.hpp>
#include <encore/option.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>
#include <encore/telemetry/tool_counts.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

struct CountersOptions {
  Count<"max_tools", 1> max_tools =
      200;  ///< further tools are counted as `other_tools`; under 500 bytes each
};

/// Counts calls, attempts and how calls ended, for each tool by its resolved name, or else by the name it was called by; never by
/// call id. Thread-safe and exact: each event is counted once. Only the first call of a tool takes a lock and allocates; no clock is
/// read. A call that succeeds at once costs three additions. Several policies can share one object.
///   Counters counters;
///   policy.with(counters).run({.name = "ship"}, ship);
///   counters.snapshot().of("ship").attempts
class Counters {
 public:
  using role = encore::role::Observer;
  explicit Counters(const CountersOptions& options = {}) : tools_{options.max_tools, options} {}
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  void operator()(const Event& event) {
    if (event.kind == EventKind::attempt_failed || event.kind == EventKind::attempt_succeeded) {
      if (event.notes != nullptr && event.notes->dispatched_again()) add(tool_of(event).dispatched_again);
      return;
    }
    auto& tool = tool_of(event);
    if (event.kind == EventKind::attempt_started && event.ordinal > 1) {
      add(tool.attempts);
      add(tool.retries);
      return;
    }
    if (event.begins_call()) add(tool.calls);
    if (event.kind == EventKind::attempt_started)
      add(tool.attempts);
    else
      count_end(tool, event);
  }

  /// The counts so far, by tool name. Bytes that are not UTF-8 are replaced, and names that are then equal are added up. During
  /// concurrent counting each number is exact for some moment of this call, but not all for the same moment.
  CountersSnapshot snapshot() const {
    std::vector<ToolCounts> all;
    tools_.for_each([&](std::string_view name, const Tool& tool) { all.push_back(tool.read(name)); });
    auto together = tools_.rest().read(other_tools);
    if (together != ToolCounts{.tool = together.tool}) all.push_back(std::move(together));
    return CountersSnapshot{std::move(all)};
  }

 private:
  using Number = std::atomic<std::uint64_t>;
  // Each tool has its own cache lines, to avoid false sharing.
  struct alignas(64) Tool {
    explicit Tool(const CountersOptions&) noexcept {}
    Number calls{0}, attempts{0}, retries{0}, recovered{0}, failed_at_once{0}, error_results{0},
        outcomes_unknown{0}, dispatched_again{0}, slept{0};
    std::array<Number, stop_reason_count> ended{};

    ToolCounts read(std::string_view name) const {
      const auto value = [](const Number& number) { return number.load(std::memory_order_relaxed); };
      ToolCounts counts{.tool = detail::valid_utf8(name),
                        .calls = value(calls),
                        .attempts = value(attempts),
                        .retries = value(retries),
                        .recovered = value(recovered),
                        .failed_at_once = value(failed_at_once),
                        .error_results = value(error_results),
                        .outcomes_unknown = value(outcomes_unknown),
                        .dispatched_again = value(dispatched_again),
                        .slept = Duration{static_cast<Duration::rep>(value(slept))}};
      for (std::size_t i = 0; i < stop_reason_count; ++i) counts.ended[i] = value(ended[i]);
      return counts;
    }
  };
  Tool& tool_of(const Event& event) {
    return tools_[event.resolved_name.empty() ? event.call_name : event.resolved_name];
  }
  static void count_end(Tool& tool, const Event& event) noexcept {
    add(tool.ended[static_cast<std::size_t>(event.reason)]);
    if (is_error_result(event)) add(tool.error_results);
    if (event.outcome_unknown) add(tool.outcomes_unknown);
    if (event.ordinal > 1) {
      if (event.reason == StopReason::succeeded) add(tool.recovered);
      add(tool.slept, static_cast<std::uint64_t>(event.slept.count()));
    } else if (category(event.reason) == StopCategory::not_matched) {
      add(tool.failed_at_once);
    }
  }
  static bool is_error_result(const Event& event) noexcept {
    switch (event.mode) {
      case TerminalMode::error_result:
      case TerminalMode::formatted: return true;
      case TerminalMode::result: return event.notes != nullptr && event.notes->error_result();
      default: return false;
    }
  }
  static void add(Number& number, std::uint64_t count = 1) noexcept {
    number.fetch_add(count, std::memory_order_relaxed);
  }

  detail::NameTable<Tool, CountersOptions> tools_;
};
static_assert(Observer<Counters>);

}  // namespace encore ENCORE_BUILD

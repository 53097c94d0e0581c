// An agent's tools: what may be repeated is said once, and the limits of a run hold for all of them.
#include <encore/agent/call_limit.hpp>
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/encore.hpp>

#include <fmt/core.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Stand for requests to services, each of which is too slow the first time.

std::string look_up(const std::string&) {
  static int requests = 0;
  if (++requests == 1) throw TimeoutError{"no answer from stock-3.internal"};
  return "17 units";
}

std::string ship(const std::string&, const encore::Attempt& attempt) {
  static std::set<std::string> shipments;  // as the carrier has them, by their keys
  const auto is_new = shipments.insert(attempt.idempotency_key()).second;
  attempt.mark_dispatched();
  if (is_new) throw TimeoutError{"no answer"};
  attempt.mark_answered();
  return fmt::format("{} shipment", shipments.size());
}

std::string charge(const std::string&, const encore::Attempt& attempt) {
  attempt.mark_dispatched();
  throw TimeoutError{"no answer"};
}

const encore::RetryPolicy tool_policy{
    encore::RetryOn<TimeoutError>{},
    encore::MaxRetries{2},
    encore::ExponentialBackoff{.initial_delay = 10ms},
    encore::TimeBudget{5s},
};

encore::ToolCatalog my_tools() {
  encore::ToolCatalog tools;
  tools.add("inventory_lookup", encore::ReplaySafety::repeatable, tool_policy, look_up);
  tools.add("ship", encore::ReplaySafety::repeatable_with_key, tool_policy, ship);
  tools.add("charge_card", charge);  // nothing was said of it, so it runs once
  return tools;
}

struct Turn {
  std::vector<encore::ToolCall> calls;
  encore::Money cost = encore::usd("0.004");
};

// Stands for the model: it has three things done at once, then asks for the same again and again.
Turn ask_model() {
  static int turn = 0;
  if (++turn == 1)
    return {{{"call-1", "inventory_lookup", R"({"sku":"A-17"})"},
             {"call-2", "ship", R"({"order":"O-1"})"},
             {"call-3", "charge_card", R"({"cents":100})"}}};
  if (turn == 6) return {};
  return {{{fmt::format("call-{}", turn + 2), "inventory_lookup", R"({"sku":"B-02"})"}}};
}

}  // namespace

int main() {
  const auto tools = my_tools();
  encore::ToolRun run{tools, encore::CallLimit{.run_limit = 20}, encore::LoopDetector{.repeats = 3},
                      encore::SpendLimit{encore::usd(2)}, encore::StepLimit{.run_limit = 50}};
  while (!run.over()) {
    const auto turn = ask_model();
    run.record(turn.cost);
    if (turn.calls.empty()) break;
    for (const auto& result : run.handle_batch(turn.calls))
      fmt::print("{} {:<5} {}\n", result.call_id, to_string(result.status), result.content);
  }
  for (const auto& lost : run.unknown_outcomes().take())
    fmt::print("to reconcile: {} {}, {}\n", lost.call_id, lost.call_name, lost.error_type);
  fmt::print("spent: {} USD\n\n{}", to_string(run.spent()), tools.describe().table());
}

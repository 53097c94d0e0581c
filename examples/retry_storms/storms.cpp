#include "storms.hpp"

#include "scripted_model.hpp"
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/encore.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/testing/fake_clock.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
using encore::testing::FakeClock;

namespace {

struct Unauthorized : std::runtime_error {
  using runtime_error::runtime_error;
};
struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct ServiceDown : std::runtime_error {
  using runtime_error::runtime_error;
};
struct RateLimited : std::runtime_error {
  using runtime_error::runtime_error;
  static std::optional<encore::Duration> retry_after() { return 60s; }  // the policy looks for this member
};

/// What a tool depends on. It never has an answer, and counts those who ask.
struct Dependency {
  int requests = 0;
  template <class Error>
  std::string fail(const char* what) {
    ++requests;
    throw Error{what};
  }
};

// ---- without encore ------------------------------------------------------------------------------------------------

/// A retry decorator as tools have it: whatever was thrown, once more, after a wait that doubles.
template <class F>
std::string retried(int attempts, FakeClock& clock, F call) {
  for (encore::Duration wait = 1s;; wait *= 2) {
    try {
      return call();
    } catch (const std::exception&) {
      if (--attempts == 0) throw;
    }
    clock.sleep_for(wait);
  }
}

/// The usual loop of an agent: what a tool throws is told to the model, with the usual advice.
template <class Tool>
Bill run_by_hand(ScriptedModel model, const Dependency& dependency, Tool tool) {
  Bill bill;
  std::string answer;
  while (bill.model_calls < most_steps) {
    ++bill.model_calls;
    bill.cost = bill.cost + model_call_price;
    const auto call = model.next(answer);
    if (!call) break;
    try {
      answer = tool(*call);
    } catch (const std::exception& error) {
      answer = std::string{"Error: "} + error.what() + ". Please try again.";
    }
    for (; bill.requests < dependency.requests; ++bill.requests) bill.cost = bill.cost + request_price;
  }
  return bill;
}

// ---- with encore ---------------------------------------------------------------------------------------------------

/// The same loop on a `ToolRun`. Every storm meets the same guards.
Bill run_guarded(ScriptedModel model, const Dependency& dependency, const encore::ToolCatalog& catalog) {
  encore::ToolRun run{catalog, encore::LoopDetector{.repeats = 3}, encore::StepLimit{.run_limit = most_steps},
                      encore::SpendLimit{encore::usd(2)}};
  Bill bill;
  std::string answer;
  while (!run.begin_step()) {
    ++bill.model_calls;
    run.record(model_call_price);
    const auto call = model.next(answer);
    if (!call) break;
    answer = run.handle_batch({*call}).front().content;
    for (; bill.requests < dependency.requests; ++bill.requests) run.record(request_price);
  }
  bill.cost = run.spent();
  return bill;
}

encore::ToolCatalog one_tool(std::string_view name, const auto& policy, auto handler) {
  encore::ToolCatalog catalog;
  catalog.add(name, encore::ReplaySafety::repeatable, policy, std::move(handler));
  return catalog;
}

// ---- the storms ----------------------------------------------------------------------------------------------------

// 1. The key is wrong, and stays so. A policy names what passes; the rest is told at once.
const ScriptedModel invoices{"read_invoice", {"{\"id\":17}"}};

Bill permanent_without() {
  FakeClock clock;
  Dependency billing;
  return run_by_hand(invoices, billing, [&](const encore::ToolCall&) {
    return retried(5, clock, [&] { return billing.fail<Unauthorized>("401"); });
  });
}
Bill permanent_with(const Hear& hear) {
  FakeClock clock;
  Dependency billing;
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError, RateLimited>{}, encore::MaxAttempts{5},
                                   encore::HandleUnmatched{}, clock, encore::Observe{hear}};
  return run_guarded(invoices, billing, one_tool("read_invoice", policy, [&](const std::string&) {
                       return billing.fail<Unauthorized>("401");
                     }));
}

// 2. The tool never throws: it returns its error as text, and the model tries other words. No retry setting sees that.
const ScriptedModel searches{"search",
                             {"{\"q\":\"retries\"}", "{\"q\":\"retrying\"}", "{\"q\":\"how to retry\"}"}};

std::string find_nothing(Dependency& index) {
  ++index.requests;
  return "Error: no results found for query";
}
Bill error_string_without() {
  Dependency index;
  return run_by_hand(searches, index, [&](const encore::ToolCall&) { return find_nothing(index); });
}
Bill error_string_with(const Hear& hear) {
  FakeClock clock;
  Dependency index;
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, clock, encore::Observe{hear}};
  return run_guarded(searches, index,
                     one_tool("search", policy, [&](const std::string&) { return find_nothing(index); }));
}

// 3. One tool calls another, whose API asks everybody to stay away. It is asked nothing more until its breaker closes.
const ScriptedModel trips{"plan_trip", {"{\"to\":\"Oslo\"}"}};

Bill cascade_without() {
  FakeClock clock;
  Dependency api;
  return run_by_hand(trips, api, [&](const encore::ToolCall&) {
    return retried(5, clock, [&] { return api.fail<RateLimited>("429"); });
  });
}
Bill cascade_with(const Hear& hear) {
  FakeClock clock;
  Dependency api;
  encore::CircuitBreaker breaker{{.failures_to_open = 2, .open_for = 30s}};
  const encore::RetryPolicy rates_policy{encore::RetryOn<RateLimited>{}, encore::MaxAttempts{5},
                                         encore::TimeBudget{8s},         breaker,
                                         encore::WhenNested{},           clock,
                                         encore::Observe{hear}};
  const encore::RetryPolicy trip_policy{encore::RetryOn<TimeoutError>{}, clock, encore::Observe{hear}};
  const auto plan_trip = [&](const std::string&, const encore::Attempt& attempt) {
    const auto id = std::string{attempt.call_id()} + "/get_rates";
    return rates_policy.run({.id = id, .name = "get_rates"}, [&] { return api.fail<RateLimited>("429"); });
  };
  return run_guarded(trips, api, one_tool("plan_trip", trip_policy, plan_trip));
}

// 4. The framework, the tool and the client each make four attempts. Who is inside another's attempt makes one.
const ScriptedModel stocks{"stock", {"{\"sku\":\"A-17\"}"}};

Bill layers_without() {
  FakeClock clock;
  Dependency service;
  return run_by_hand(stocks, service, [&](const encore::ToolCall&) {
    return retried(4, clock, [&] {
      return retried(4, clock, [&] {  //
        return retried(4, clock, [&] { return service.fail<ServiceDown>("503"); });
      });
    });
  });
}
Bill layers_with(const Hear& hear) {
  FakeClock clock;
  Dependency service;
  const encore::RetryPolicy framework{encore::RetryOn<ServiceDown>{}, encore::MaxAttempts{4}, clock,
                                      encore::Observe{hear}};
  const auto inner = framework.with(encore::WhenNested{encore::Nested::make_single});
  const auto look_up = [&](const std::string&, const encore::Attempt& attempt) {
    const auto in_tool = std::string{attempt.call_id()} + "/tool";
    const auto in_client = std::string{attempt.call_id()} + "/client";
    return inner.run({.id = in_tool, .name = "tool"}, [&] {
      return inner.run({.id = in_client, .name = "client"}, [&] { return service.fail<ServiceDown>("503"); });
    });
  };
  return run_guarded(stocks, service, one_tool("stock", framework, look_up));
}

}  // namespace

std::vector<Storm> storms() {
  using enum encore::StopReason;
  return {
      {"permanently failed tool", permanent_without, permanent_with, {not_retryable, loop_detected}},
      {"error-string loop", error_string_without, error_string_with, {loop_detected}},
      {"cascading 429", cascade_without, cascade_with, {hint_past_deadline, circuit_open, loop_detected}},
      {"compounding layers",
       layers_without,
       layers_with,
       {nested_made_single, retries_exhausted, loop_detected}},
  };
}

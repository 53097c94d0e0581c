#include <encore/telemetry/metric.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::CountersSnapshot;
using encore::MetricPoint;
using encore::StopReason;
using encore::ToolCounts;
namespace metric = encore::metric;

// OpenTelemetry's rules for metrics: names are lower case and dotted; units are UCUM, what is counted in braces, no name ends in
// `total` or in its unit.
static_assert([] {
  for (const auto& each : metric::all) {
    if (!each.name.starts_with("encore.tool.") || each.description.empty()) return false;
    for (const char c : each.name)
      if (!((c >= 'a' && c <= 'z') || c == '.' || c == '_')) return false;
    if (each.name.ends_with("total") || each.name.ends_with("seconds")) return false;
    if (each.unit != "s" && !(each.unit.starts_with('{') && each.unit.ends_with('}'))) return false;
  }
  return true;
}());
static_assert(metric::slept.unit == "s");
static_assert(metric::attempts ==
              encore::Metric{"encore.tool.attempts", "{attempt}", "Executions of the callable that began."});

ToolCounts counts(std::string tool) {
  ToolCounts all{.tool = std::move(tool),
                 .calls = 10,
                 .attempts = 20,
                 .retries = 12,
                 .recovered = 4,
                 .failed_at_once = 1,
                 .error_results = 2,
                 .outcomes_unknown = 3,
                 .dispatched_again = 6,
                 .slept = 1500ms};
  all.ended[static_cast<std::size_t>(StopReason::succeeded)] = 5;
  all.ended[static_cast<std::size_t>(StopReason::retries_exhausted)] = 3;
  all.ended[static_cast<std::size_t>(StopReason::circuit_open)] = 1;
  return all;
}

TEST_CASE("every metric has a number for every tool, and per reason for ended calls", "[metric]") {
  std::vector<std::string> points;
  for_each_point(CountersSnapshot{{counts("b"), counts("a")}}, [&](const MetricPoint& point) {
    if (point.tool != "a") return;
    points.push_back(std::string{point.metric.name} + " " + std::string{point.reason} + "=" +
                     std::to_string(static_cast<int>(point.value() * 1'000)));
  });
  CHECK(points == std::vector<std::string>{
                      "encore.tool.calls =10000", "encore.tool.attempts =20000", "encore.tool.retries =12000",
                      "encore.tool.calls.recovered =4000", "encore.tool.calls.exhausted =3000",
                      "encore.tool.calls.failed_at_once =1000", "encore.tool.calls.error_results =2000",
                      "encore.tool.calls.outcomes_unknown =3000",
                      "encore.tool.attempts.dispatched_again =6000", "encore.tool.calls.refused =1000",
                      "encore.tool.calls.ended succeeded=5000",
                      "encore.tool.calls.ended retries_exhausted=3000",
                      "encore.tool.calls.ended circuit_open=1000", "encore.tool.slept =1500"});
}

TEST_CASE("all points of a metric are together, and each metric comes once", "[metric]") {
  std::vector<std::string> families;
  for_each_point(CountersSnapshot{{counts("b"), counts("a")}}, [&](const MetricPoint& point) {
    if (families.empty() || families.back() != point.metric.name) families.emplace_back(point.metric.name);
  });
  CHECK(families.size() == metric::all.size());
  CHECK(std::set<std::string>{families.begin(), families.end()}.size() == families.size());
}

TEST_CASE("counters without counts yield no metric points", "[metric]") {
  int points = 0;
  for_each_point(CountersSnapshot{}, [&](const MetricPoint&) { ++points; });
  CHECK(points == 0);
}

}  // namespace

#include <encore/telemetry/prometheus_text.hpp>

#include <catch2/catch_test_macros.hpp>

namespace {

using encore::detail::prometheus_name;

TEST_CASE("metric names become Prometheus names by OpenTelemetry's compatibility rules",
          "[prometheus_text]") {
  CHECK(prometheus_name("gen_ai.tool.name") == "gen_ai_tool_name");
  CHECK(prometheus_name("a-b/c d:9") == "a_b_c_d_9");
  CHECK(prometheus_name(encore::metric::slept) == "encore_tool_slept_seconds_total");
  CHECK(prometheus_name(encore::metric::calls) == "encore_tool_calls_total");
}

}  // namespace

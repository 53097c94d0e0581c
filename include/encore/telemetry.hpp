// What writes down how calls went: counters, log lines, traces, metrics, shadow policies. The line for fmt is telemetry/format.hpp.
#pragma once
#include <encore/telemetry/counters.hpp>
#include <encore/telemetry/log_line.hpp>
#include <encore/telemetry/metric.hpp>
#include <encore/telemetry/prometheus_text.hpp>
#include <encore/telemetry/shadow_policy.hpp>
#include <encore/telemetry/trace.hpp>

// Observers and texts: counters, log lines, traces, metrics and shadow policies. For fmt, include telemetry/format.hpp.
#pragma once
#include <encore/telemetry/counters.hpp>
#include <encore/telemetry/log_line.hpp>
#include <encore/telemetry/metric.hpp>
#include <encore/telemetry/prometheus_text.hpp>
#include <encore/telemetry/shadow_policy.hpp>
#include <encore/telemetry/trace.hpp>

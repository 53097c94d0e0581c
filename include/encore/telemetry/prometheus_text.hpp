// Counters in Prometheus' text format.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/telemetry/event_record.hpp>
#include <encore/telemetry/metric.hpp>
#include <encore/telemetry/tool_counts.hpp>

#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

namespace detail {

/// The Prometheus name of a metric or an attribute, by OpenTelemetry's compatibility rules: characters other than letters, digits and
/// underscores become underscores; seconds add `_seconds`; sums end in `_total`.
///   encore.tool.slept in s: encore_tool_slept_seconds_total
inline std::string prometheus_name(std::string_view name) {
  std::string text{name};
  for (char& c : text) {
    const auto kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!kept) c = '_';
  }
  return text;
}
inline std::string prometheus_name(const Metric& metric) {
  return prometheus_name(metric.name).append(metric.unit == "s" ? "_seconds" : "").append("_total");
}

/// A label's value: backslash, quote and line feed are escaped, and bytes that are not UTF-8 become U+FFFD.
inline void append_label_value(std::string& out, std::string_view value) {
  out += '"';
  while (!value.empty()) {
    const auto [character, size, valid] = first_code_point(value);
    if (!valid)
      out += "\xEF\xBF\xBD";
    else if (character == U'\\' || character == U'"')
      (out += '\\') += value.front();
    else if (character == U'\n')
      out += "\\n";
    else
      out += value.substr(0, size);
    value.remove_prefix(size);
  }
  out += '"';
}

}  // namespace detail

/// A snapshot in Prometheus' text format 0.0.4, served as `text/plain; version=0.0.4; charset=utf-8`. Times are in seconds.
///   encore_tool_attempts_total{gen_ai_tool_name="inventory_lookup"} 300
inline std::string prometheus_text(const CountersSnapshot& snapshot) {
  static const auto tool_label =
      detail::prometheus_name(detail::field_names<&EventRecord::call_name>.first.json);
  static const auto reason_label =
      detail::prometheus_name(detail::field_names<&EventRecord::reason>.first.json);
  std::string text;
  std::string_view family;
  std::string name;
  for_each_point(snapshot, [&](const MetricPoint& point) {
    if (family != point.metric.name) {
      family = point.metric.name;
      name = detail::prometheus_name(point.metric);
      text.append("# HELP ").append(name).append(1, ' ').append(point.metric.description).append(1, '\n');
      text.append("# TYPE ").append(name).append(" counter\n");
    }
    text.append(name).append(1, '{').append(tool_label).append(1, '=');
    detail::append_label_value(text, point.tool);
    if (!point.reason.empty()) {
      text.append(1, ',').append(reason_label).append(1, '=');
      detail::append_label_value(text, point.reason);
    }
    text += "} ";
    if (point.is_time())
      append_seconds(text, point.time);
    else
      text += std::to_string(point.count);
    text += '\n';
  });
  return text;
}

}  // namespace encore ENCORE_BUILD

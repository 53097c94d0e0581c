// A log line of named fields, in logfmt or JSON.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/detail/reads_plain.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>
#include <encore/telemetry/time_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD {

enum class LineShape : std::uint8_t {
  logfmt,  ///< event=attempt_failed call=call-17 attempt=1/3
  json,    ///< {"encore.event":"attempt_failed","gen_ai.tool.call.id":"call-17"}
};

/// A field's name in each shape; a shape without a name omits the field.
struct FieldNames {
  std::string_view logfmt{};
  std::string_view json{};
};

/// Builds one line of either shape. Values are escaped; names are written as given, and must be unique and need no quotes. Durations
/// are in seconds. Not thread-safe.
///   LogLine line{LineShape::logfmt};
///   line.text({"tool", "gen_ai.tool.name"}, "inventory_lookup");
///   line.finish() == "tool=inventory_lookup"
class LogLine {
 public:
  explicit LogLine(LineShape shape) : shape_{shape} {
    line_.reserve(250);
    if (json()) line_ += '{';
  }

  void text(const FieldNames& names, std::string_view value) {
    if (!begin(names)) return;
    if (!json() && reads_plain(value))
      line_ += value;
    else
      append_quoted(line_, value);
  }
  void number(const FieldNames& names, std::int64_t value) {
    if (begin(names)) line_ += std::to_string(value);
  }
  void flag(const FieldNames& names, bool value) {
    if (begin(names)) line_ += value ? "true" : "false";
  }
  /// With its unit in logfmt: 0.25s.
  void seconds(const FieldNames& names, Duration value) {
    if (!begin(names)) return;
    append_seconds(line_, value);
    if (!json()) line_ += 's';
  }
  void timestamp(const FieldNames& names, WallTime value) {
    if (!begin(names)) return;
    if (json()) line_ += '"';
    append_timestamp(line_, value);
    if (json()) line_ += '"';
  }

  /// Returns the line, without a newline at its end.
  [[nodiscard]] std::string finish() && {
    if (json()) line_ += '}';
    return std::move(line_);
  }

 private:
  bool json() const noexcept { return shape_ == LineShape::json; }
  bool begin(const FieldNames& names) {
    const auto name = json() ? names.json : names.logfmt;
    if (name.empty()) return false;
    if (!empty_) line_ += json() ? ',' : ' ';
    empty_ = false;
    if (json())
      line_.append(1, '"').append(name).append("\":");
    else
      line_.append(name).append(1, '=');
    return true;
  }

  LineShape shape_;
  bool empty_ = true;
  std::string line_;
};

}  // namespace encore ENCORE_BUILD

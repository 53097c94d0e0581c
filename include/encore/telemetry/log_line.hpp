// One line for a log: fields with names, in logfmt for people or in JSON for machines.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/quoted_text.hpp>
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

/// A field's name in each shape; without a name in a shape it is left out there.
struct FieldNames {
  std::string_view logfmt{};
  std::string_view json{};
};

/// Builds one line of either shape. Whatever the values hold, the line stays one, and JSON stays JSON. The names are the
/// caller's own: they are written as they are, and given once each.
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
  /// In logfmt with its unit: 0.25s.
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

  /// The line, without a newline at its end. Nothing can be added to it any more.
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

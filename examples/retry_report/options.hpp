// What the program is asked to do.
#pragma once
#include "../command_line.hpp"
#include <encore/analysis/trace_fields.hpp>
#include <encore/duration.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

extern const char* const usage;

struct Options {
  std::vector<std::string> logs{};  ///< "-" is the standard input; none: the sample
  std::optional<std::string> page{};
  std::size_t lanes = 60;
  std::optional<int> max_attempts{};
  std::optional<encore::Duration> deadline{};
  encore::TraceFields fields{};
  bool help = false;
};

/// Throws UsageError.
Options read_options(int count, char** words);

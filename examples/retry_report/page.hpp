// The report as one HTML page that needs nothing else: no network, no script.
#pragma once
#include "attempts_over_time.hpp"
#include "lane_choice.hpp"
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/trace_reader.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// What is known when the logs have been read.
struct Report {
  const std::vector<std::string>& logs;  ///< their names
  const encore::TraceReader& reader;
  const encore::Diagnosis& diagnosis;
  const LaneChoice& lanes;
  const AttemptsOverTime& over_time;
  std::string
      note_on_room{};  ///< about calls that were put away before the log's end, because there were too many
};

/// The page is well-formed XML as well. Its size has an end, whatever the size of the logs.
std::string page(const Report& report);

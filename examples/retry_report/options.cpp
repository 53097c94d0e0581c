#include "options.hpp"

#include <encore/detail/quoted_text.hpp>
#include <encore/detail/seconds_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

const char* const usage =
    "usage: retry_report [options] [LOG...]\n"
    "Reads logs of JSON Lines (a LOG of - is the standard input; none is the sample) and says what came of "
    "the calls.\n"
    "  --page FILE          write a page with a picture, in HTML\n"
    "  --lanes N            draw at most so many calls, 1 to 500; else 60\n"
    "  --max-attempts N     the attempt limit, for logs without one\n"
    "  --deadline SECONDS   from the start of each call, for logs without one\n"
    "  --field NAME=FIELD   what the log calls the timestamp, scope, event, call, tool, attempt, error, "
    "message,\n"
    "                       status, request_id or took; may be given for each; a field within an object is "
    "a.b\n"
    "  --milliseconds       the log's durations are in milliseconds, else in seconds\n"
    "  --every-line         each line with a call's id or a tool's name is an attempt\n"
    "  --help               print this\n";

namespace {

using encore::TraceFields;

constexpr std::array<std::pair<std::string_view, std::string TraceFields::*>, 11> fields{{
    {"timestamp", &TraceFields::timestamp},
    {"scope", &TraceFields::scope},
    {"event", &TraceFields::event},
    {"call", &TraceFields::call},
    {"tool", &TraceFields::tool},
    {"attempt", &TraceFields::attempt},
    {"error", &TraceFields::error},
    {"message", &TraceFields::message},
    {"status", &TraceFields::status},
    {"request_id", &TraceFields::request_id},
    {"took", &TraceFields::took},
}};

int number(std::string_view option, std::string_view value, int most) {
  int read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc{} || end != value.data() + value.size() || read < 1 || read > most)
    throw UsageError{
        fmt::format("{} takes a number from 1 to {}, not {}", option, most, encore::in_quotes(value))};
  return read;
}

encore::Duration seconds(std::string_view option, std::string_view value) {
  const auto read = encore::read_duration(value);
  if (!read || *read <= encore::Duration::zero())
    throw UsageError{fmt::format("{} takes seconds, more than 0, not {}", option, encore::in_quotes(value))};
  return *read;
}

void name_field(TraceFields& names, std::string_view option, std::string_view value) {
  const auto equals = value.find('=');
  const auto name = value.substr(0, equals);
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](auto& field) { return field.first == name; });
  if (equals == value.npos || found == fields.end())
    throw UsageError{fmt::format("{} takes NAME=FIELD with a NAME that --help lists, not {}", option,
                                 encore::in_quotes(value))};
  names.*found->second = value.substr(equals + 1);
}

}  // namespace

Options read_options(int count, char** words) {
  constexpr auto max_lanes = 500;
  constexpr auto max_attempts = 1'000'000;
  Options options;
  auto only_logs = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word{words[i]};
    const auto value = [&] {
      if (++i == count) throw UsageError{fmt::format("{} needs a value", word)};
      return std::string_view{words[i]};
    };
    if (only_logs || word == "-" || !word.starts_with('-'))
      options.logs.emplace_back(word);
    else if (word == "--")
      only_logs = true;
    else if (word == "--page")
      options.page = value();
    else if (word == "--lanes")
      options.lanes = static_cast<std::size_t>(number(word, value(), max_lanes));
    else if (word == "--max-attempts")
      options.max_attempts = number(word, value(), max_attempts);
    else if (word == "--deadline")
      options.deadline = seconds(word, value());
    else if (word == "--field")
      name_field(options.fields, word, value());
    else if (word == "--milliseconds")
      options.fields.duration_unit = std::chrono::milliseconds{1};
    else if (word == "--every-line")
      options.fields.each_line_is_an_attempt = true;
    else if (word == "--help")
      options.help = true;
    else
      throw UsageError{fmt::format("there is no option {}", encore::in_quotes(word))};
  }
  return options;
}

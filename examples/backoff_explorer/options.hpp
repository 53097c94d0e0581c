// What is asked for on the command line.
#pragma once
#include "../command_line.hpp"
#include <encore/encore.hpp>
#include <encore/retry_settings.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// An outage of a backend, and the calls that come to it.
struct OutageOptions {
  double calls_per_second = 200;
  double requests_per_second = 300;  ///< that the backend is good for
  encore::Duration timeout = std::chrono::seconds{1};
  encore::Duration lasts = std::chrono::seconds{10};
};

struct Options {
  encore::RetrySettings policy{.max_retries = 2};
  bool all_shapes = true;  ///< no policy was given
  OutageOptions outage{};
  std::optional<std::string> html{};  ///< the file to write
  bool help = false;
};

extern const std::string_view usage;

/// Throws `UsageError`.
Options read_options(std::span<char* const> words);

/// One line: backoff, delays, jitter and number of retries.
std::string policy_text(const encore::RetrySettings& policy);

/// 0.25 s, 2 min: with at most four digits.
std::string text_of(encore::Duration duration);

// Shows what a retry policy does before it does it: the waits of each retry, and, in a page with charts, how it fares among
// clients that contend and what it does to a backend in an outage.
#include "options.hpp"
#include "page.hpp"
#include "shapes.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

namespace {

double seconds(encore::Duration duration) { return std::chrono::duration<double>{duration}.count(); }

void print_one(const Preview& preview) {
  fmt::print("{}\n{:<10}{:>10}{:>10}{:>10}\n", preview.name, "  s", "min", "median", "max");
  const auto print_row = [](const std::string& name, const encore::WaitRange& wait) {
    fmt::print("  {:<8}{:>10.4g}{:>10.4g}{:>10.4g}\n", name, seconds(wait.min), seconds(wait.median),
               seconds(wait.max));
  };
  int retry = 0;
  for (const auto& wait : preview.waits) print_row(fmt::format("retry {}", ++retry), wait);
  print_row("in all", preview.total);
}

/// "0.75-1.25", or one number where nothing is left to chance.
std::string range(const encore::WaitRange& wait) {
  if (wait.min == wait.max) return fmt::format("{:.4g}", seconds(wait.min));
  return fmt::format("{:.4g}-{:.4g}", seconds(wait.min), seconds(wait.max));
}

void print_all() {
  constexpr std::size_t shown = 5;
  fmt::print("{:<42}", "seconds before retry");
  for (std::size_t retry = 1; retry <= shown; ++retry) fmt::print("{:>11}", retry);
  fmt::print("{:>14}\n", "8 in all");
  for (const auto& preview : previews_of_all_shapes()) {
    fmt::print("{:<42}", preview.name);
    for (std::size_t retry = 0; retry < shown; ++retry) fmt::print("{:>11}", range(preview.waits[retry]));
    fmt::print("{:>14}\n", range(preview.total));
  }
}

void write(const std::string& file, const std::string& text) {
  std::ofstream stream{file};
  stream << text;
  if (!stream.flush()) throw UsageError{fmt::format("--html {}: this file cannot be written", file)};
}

int explore(const Options& options) {
  if (options.help) {
    fmt::print("{}", usage);
    return EXIT_SUCCESS;
  }
  if (options.all_shapes)
    print_all();
  else
    print_one(preview_of(policy_text(options.policy), options.policy));
  if (options.html) write(*options.html, page(options));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  try {
    return explore(read_options({words + 1, static_cast<std::size_t>(count - 1)}));
  } catch (const UsageError& error) {
    fmt::print(stderr, "backoff_explorer: {}\n{}", error.what(), usage);
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "backoff_explorer: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

// What the examples that take options do alike: refuse wrong ones, and end with words for whoever called them.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

/// The command line is wrong. The message names the option and its value.
struct UsageError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Runs a program, and answers its exit code; 2, with the reason on stderr, if it cannot run.
template <class Program>
int run_program(std::string_view name, std::string_view usage, Program&& program) {
  constexpr int cannot_run = 2;
  try {
    return program();
  } catch (const UsageError& error) {
    fmt::print(stderr, "{}: {}\n{}", name, error.what(), usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
  }
  return cannot_run;
}

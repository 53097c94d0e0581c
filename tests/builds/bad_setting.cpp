// Sets a setting to a number at run time: `bad_setting max_retries -1`. Without exceptions a bad one ends the program with
// words on stderr that name field, value and rule. (A1, C3, L3) bad_setting.cmake runs it.
#include <encore/encore.hpp>

#include <chrono>
#include <cstdlib>
#include <string_view>

#if defined(__cpp_exceptions)
#error "this test must be built without exceptions"
#endif

using namespace std::chrono_literals;

int main(int count, char** arguments) {
  if (count != 3) return 64;
  const std::string_view field{arguments[1]};
  const auto number = std::strtod(arguments[2], nullptr);
  const auto whole = static_cast<int>(std::strtol(arguments[2], nullptr, 10));
  const std::chrono::duration<double> seconds{number};

  if (field == "max_retries") return encore::MaxRetries{whole}.value == whole ? 0 : 1;
  if (field == "max_attempts") return encore::MaxAttempts{whole}.value == whole ? 0 : 1;
  if (field == "factor") return encore::ExponentialBackoff{.factor = number}.factor > 0.0 ? 0 : 1;
  if (field == "ratio") return encore::ProportionalJitter{.ratio = number}.ratio >= 0.0 ? 0 : 1;
  if (field == "time_budget") return encore::Duration{encore::TimeBudget{seconds}.value} > 0s ? 0 : 1;
  encore::RetrySettings settings;
  if (field == "jitter_ratio") {
    settings.jitter_ratio = number;
    return settings.jitter_ratio >= 0.0 ? 0 : 1;
  }
  return 64;
}

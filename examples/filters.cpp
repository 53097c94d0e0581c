// Which failures deserve another attempt: each predicate meets the same failures, and the table counts its attempts.
#include <encore/encore.hpp>
#include <encore/http/status.hpp>

#include <fmt/core.h>

#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};
struct ReadTimeout : TimeoutError {
  using TimeoutError::TimeoutError;
};
struct HttpError : std::runtime_error {
  explicit HttpError(int code, bool no_quota = false)
      : runtime_error{"http error"},
        status{code},
        quota_spent{no_quota} {}
  int status;
  bool quota_spent;
};

struct Example {
  std::string_view name;
  void (*fail)();
};
const std::vector<Example> failures{
    {"ReadTimeout", [] { throw ReadTimeout{"no answer"}; }},  // a TimeoutError, as a catch clause sees it
    {"503", [] { throw HttpError{503}; }},
    {"404", [] { throw HttpError{404}; }},
    {"429", [] { throw HttpError{429}; }},
    {"429 no quota", [] { throw HttpError{429, true}; }},
    {"reset", [] { throw std::system_error{std::make_error_code(std::errc::connection_reset)}; }},
    {"bad argument", [] { throw std::invalid_argument{"sku"}; }},
};

template <class... Options>
void show(const char* name, const Options&... options) {
  const encore::RetryPolicy policy{options..., encore::MaxRetries{2}, encore::ConstantBackoff{0ms}};
  fmt::print("{:<34}", name);
  for (const Example& example : failures) {
    int attempts = 0;
    try {
      policy.run([&] { ++attempts, example.fail(); });
    } catch (const std::exception&) {}  // rethrown by the policy
    fmt::print("{:>{}}", attempts, example.name.size() + 3);
  }
  fmt::print("\n");
}

int main() {
  using namespace encore;
  const RetryOn<TimeoutError> timeouts;
  const RetryIf transient_status{[](const HttpError& error) { return http::is_transient(error.status); }};
  const NeverRetryIf quota_spent{[](const HttpError& error) { return error.quota_spent; }};

  fmt::print("{:<34}", "attempts made, of at most 3");
  for (const Example& example : failures) fmt::print("   {}", example.name);
  fmt::print("\n");
  show("RetryOn<TimeoutError>", timeouts);
  show("RetryIf(transient status)", transient_status);
  show("either of them", timeouts || transient_status);
  show("either, and NeverRetryIf(no quota)", timeouts || transient_status, quota_spent);
  show("RetryOnTransientErrorCode", RetryOnTransientErrorCode{});
  show("!RetryOn<std::invalid_argument>", !RetryOn<std::invalid_argument>{});
  show("RetryOnEveryException", RetryOnEveryException{});

  // A returned value is a success, unless a predicate on values says otherwise.
  std::optional<int> stock;
  const RetryPolicy until_known{RetryIfNoValue{}, MaxAttempts{5}, ConstantBackoff{0ms}};
  const auto units = until_known.run([&](const Attempt& attempt) {
    if (attempt.ordinal == 4) stock = 17;
    return stock;
  });
  fmt::print("\nRetryIfNoValue: {} units, at the fourth attempt\n", units.value());
}

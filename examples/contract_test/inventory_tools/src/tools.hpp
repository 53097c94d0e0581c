// A team's tools: what can go wrong with them, what is sent, and which of their calls are tried again.
#pragma once
#include <encore/agent/tell_model.hpp>
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_retry.hpp>
#include <encore/encore.hpp>
#include <encore/error_type.hpp>

#include <map>
#include <stdexcept>
#include <string>

namespace inventory {

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ConnectionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct InvalidSku : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// The backend's status as an exception, here, where it is still known what happened.
inline void throw_for(int status) {
  if (status == 422) throw InvalidSku{"the backend knows no such sku"};
  if (status == 504) throw TimeoutError{"the backend's own backend is slow"};
  if (status >= 500) throw ConnectionError{"status " + std::to_string(status)};
}

/// With these headers the backend's log can be joined with ours, and it knows a repetition.
inline std::map<std::string, std::string> headers_of(const encore::Attempt& attempt) {
  return {{"X-Call-Id", std::string{attempt.call_id()}},
          {"X-Attempt", std::to_string(attempt.ordinal)},
          {"Idempotency-Key", attempt.idempotency_key()}};
}

/// Reads. What the model gets at the end names the kind of failure, and no host.
inline const encore::ToolRetry reading_tools{
    encore::RetryPolicy{encore::RetryOn<TimeoutError, ConnectionError>{}, encore::MaxRetries{2},
                        encore::ExponentialBackoff{.initial_delay = 250ms, .factor = 2.0, .max_delay = 2s}},
    encore::Repeatable{"inventory_lookup"}, encore::TellModelWith{[](const encore::Failure& failure) {
      return "DEPENDENCY_UNAVAILABLE:" + encore::error_type(failure.error);
    }}};

/// Writes. Each is tried once more if it sent its key; what fails then goes up to a person.
inline const encore::ToolRetry writing_tools{
    encore::RetryPolicy{encore::RetryOn<ConnectionError>{}, encore::MaxRetries{1},
                        encore::ConstantBackoff{1s}},
    encore::RepeatableWithKey{"ship"}};

}  // namespace inventory

// Inside which attempt a call is made, as its events say.
#pragma once
#include <encore/nesting.hpp>
#include <encore/retry_policy.hpp>
#include <encore/testing/recorder.hpp>

#include <string>

namespace encore_tests {

/// The id and the ordinal of the attempt inside which a call is made now on this thread, or "none".
inline std::string outer_attempt_of_a_call() {
  struct Failed {};
  encore::testing::Recorder trace;
  try {
    encore::RetryPolicy{encore::RetryOnEveryException{}, encore::MaxRetries{0}, encore::WhenNested{}, trace}
        .run([] { throw Failed{}; });
  } catch (const Failed&) {}
  const auto failed = trace.events().at(1);
  return failed.outer_id.empty() ? "none" : failed.outer_id + ' ' + std::to_string(failed.outer_ordinal);
}

}  // namespace encore_tests

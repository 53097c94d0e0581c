#include "options.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Message;

Options read(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  return read_options(pointers);
}

}  // namespace

TEST_CASE("a policy is read from the command line", "[options]") {
  const auto options = read({"--backoff", "linear", "--initial-delay", "0.5s", "--factor", "3", "--max-delay",
                             "2min", "--min-delay", "1ms", "--jitter", "full", "--max-retries", "7"});
  CHECK(options.policy.backoff == encore::BackoffShape::linear);
  CHECK(encore::Duration{options.policy.delays.initial_delay} == 500ms);
  CHECK(double{options.policy.delays.factor} == 3.0);
  CHECK(encore::Duration{options.policy.delays.max_delay} == 2min);
  CHECK(encore::Duration{options.policy.delays.min_delay} == 1ms);
  CHECK(options.policy.jitter == encore::JitterShape::full);
  CHECK(int{*options.policy.max_retries} == 7);
  CHECK_FALSE(options.all_shapes);
  CHECK_FALSE(options.html);
}

TEST_CASE("an outage and a file do not make a policy", "[options]") {
  const auto options = read({"--calls", "90", "--capacity", "450.5", "--timeout", "250ms", "--outage", "5s",
                             "--html", "page.html"});
  CHECK(options.outage.calls_per_second == 90.0);
  CHECK(options.outage.requests_per_second == 450.5);
  CHECK(options.outage.timeout == 250ms);
  CHECK(options.outage.lasts == 5s);
  CHECK(options.html == "page.html");
  CHECK(options.all_shapes);
  CHECK(read({}).all_shapes);
  CHECK(read({"--help"}).help);
}

TEST_CASE("a mistake on the command line is refused with the option and its value", "[options]") {
  const auto says = [](std::vector<std::string> words, const std::string& message) {
    CHECK_THROWS_MATCHES(read(std::move(words)), UsageError, Message(message));
  };
  says({"--backof", "linear"}, "there is no option --backof");
  says({"linear"}, "there is no option linear");
  says({"--min-delay", "2s", "--max-delay", "1s"},
       "encore: min_delay = 2s is invalid: it is more than max_delay = 1s");
  says({"--html"}, "--html needs a value");
  says({"--backoff", "quadratic"},
       "--backoff quadratic: it must be one of constant, linear, exponential, fibonacci");
  says({"--jitter", ""}, "--jitter : it must be one of none, full, equal, proportional, decorrelated");
  says({"--initial-delay", "5parsecs"},
       "--initial-delay 5parsecs: a time is a number and a unit: ns, us, ms, s, min or h, as in 250ms");
  says({"--max-delay", "7"},
       "--max-delay 7: a time is a number and a unit: ns, us, ms, s, min or h, as in 250ms");
  says({"--min-delay", "soon"}, "--min-delay soon: this is no number");
  says({"--factor", "nan"}, "--factor nan: this is no number");
  says({"--factor", "2x"}, "--factor 2x: this is no number");
  // What the library refuses is refused in its words.
  says({"--initial-delay", "-1s"},
       "--initial-delay -1s: encore: initial_delay = -1s is invalid: it must be finite and not negative");
  says({"--jitter-ratio", "25"},
       "--jitter-ratio 25: encore: jitter_ratio = 25 is invalid: it must lie between 0 and 1");
  says({"--max-retries", "1.5"}, "--max-retries 1.5: it must be a whole number");
  says({"--max-retries", "101"}, "--max-retries 101: it must lie between 0 and 100");
  says({"--calls", "0"}, "--calls 0: it must lie between 1 and 5000");
  says({"--outage", "1h"}, "--outage 1h: it must lie between 1 s and 60 s");
}

TEST_CASE("a policy is described in one line", "[options]") {
  CHECK(policy_text(read({}).policy) ==
        "exponential backoff from 1 s, factor 2, at most 60 s, proportional jitter of 25 %, 2 retries");
  CHECK(policy_text(
            read({"--backoff", "constant", "--initial-delay", "3h", "--jitter", "none", "--max-retries", "1"})
                .policy) == "constant backoff of 3 h, at most 60 s, no jitter, 1 retry");
}

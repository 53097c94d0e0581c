// An agent's inventory tool, called through encore, against a real HTTP server that fails as script.txt says. It prints side by
// side what a dashboard counts, what encore traced and what the server logged, and ends with 1 if they do not agree.
#include "../command_line.hpp"
#include "../event_file.hpp"
#include "backend.hpp"
#include "comparison.hpp"
#include "errors.hpp"
#include "inventory.hpp"
#include "script.hpp"
#include <encore/agent/model_text.hpp>
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>
#include <encore/testing/recorder.hpp>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

using namespace std::chrono_literals;

namespace {

constexpr auto usage =
    "usage: inventory_agent [--script FILE] [--log FILE] [--client-retries]\n"
    "  --script FILE     what the model asks and the backend answers, instead of script.txt\n"
    "  --log FILE        write each event as one line of JSON\n"
    "  --client-retries  let the HTTP client repeat what fails, unseen by encore: the comparison finds it\n";

struct Options {
  std::string script = INVENTORY_AGENT_SCRIPT;
  std::optional<std::string> log{};
  ClientRetries client_retries = ClientRetries::none;
  bool help = false;
};

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word{words[i]};
    const auto value = [&] {
      if (++i == count) throw UsageError{fmt::format("{} needs a file", word)};
      return words[i];
    };
    if (word == "--script")
      options.script = value();
    else if (word == "--log")
      options.log = value();
    else if (word == "--client-retries")
      options.client_retries = ClientRetries::once;
    else if (word == "--help")
      options.help = true;
    else
      throw UsageError{fmt::format("there is no option {}", word)};
  }
  return options;
}

/// The model is told the tool, the attempts and the error's type. Hosts and texts of errors stay out of its sight.
ToolMessage for_the_model(const encore::Failure& failure) {
  return {.call_id = failure.call_id, .is_error = true, .content = encore::tell_model(failure)};
}

const encore::RetryPolicy lookup_policy{
    encore::RetryOn<TimeoutError, ConnectionDropped, ServiceUnavailable>{},
    encore::MaxRetries{2},
    encore::ExponentialBackoff{.initial_delay = 50ms, .factor = 2.0, .max_delay = 1s},
    encore::AttemptTimeout{500ms},
    encore::TimeBudget{5s},
    encore::FormatFailure{for_the_model},
    encore::HandleUnmatched{},  // a lookup that is not retried, such as a 404, is a message to the model, too
};

/// Plays the model's calls, one after another.
Records play(const Script& script, const Options& options) {
  const auto log = spdlog::stderr_logger_st("inventory_agent");
  log->set_pattern("%H:%M:%S.%e %v");
  EventFile event_file{options.log};
  encore::testing::Recorder trace;
  const auto policy = lookup_policy.with(
      encore::Observe{[log](const encore::Event& event) { log->info("{}", event); }}, event_file, trace);

  const Backend backend{script};
  const Inventory inventory{backend.port(), options.client_retries};
  fmt::print("The model's calls, against an inventory service on 127.0.0.1:{}\n", backend.port());
  std::fflush(stdout);
  Records records{.calls = script.calls, .messages = {}, .trace = {}, .requests = {}};
  for (const ToolCall& call : script.calls) {
    const auto look_up = [&](const encore::Attempt& attempt) {
      const int units = inventory.look_up(call.sku, attempt);
      return ToolMessage{
          .call_id = call.id, .is_error = false, .content = fmt::format("{} units of {}", units, call.sku)};
    };
    records.messages.push_back(policy.run({.id = call.id, .name = call.name}, look_up));
  }
  event_file.close();
  records.trace = trace.events();
  records.requests = backend.log();
  return records;
}

int run(const Options& options) {
  if (options.help) {
    fmt::print("{}", usage);
    return EXIT_SUCCESS;
  }
  const auto script = read_script(options.script);
  const auto records = play(script, options);
  fmt::print("\nWHAT THE MODEL WAS TOLD\n");
  for (const auto& message : records.messages) {
    fmt::print("{} {:<6}{}\n", message.call_id, message.is_error ? "error" : "ok", message.content);
  }
  fmt::print("\n");
  print_side_by_side(records);
  fmt::print("\n");
  return print_agreement(records) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words) {
  return run_program("inventory_agent", usage, [&] { return run(read_options(count, words)); });
}

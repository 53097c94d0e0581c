// Feeds any bytes to the readers of saved state, and goes on with what they accept; stops at the first answer that breaks a rule.
#include "fuzz.hpp"
#include <encore/agent/call_limit.hpp>
#include <encore/agent/loop_detector.hpp>
#include <encore/agent/spend_limit.hpp>
#include <encore/agent/step_limit.hpp>
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/backoff_shapes.hpp>
#include <encore/durable/durable_call.hpp>
#include <encore/durable/saved_call.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/encore.hpp>
#include <encore/jitter_shapes.hpp>
#include <encore/testing/fake_clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace encore;
using namespace std::chrono_literals;
using fuzz::require;

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

/// Reads something; false if it was refused, which must be said in words that do nothing to a terminal.
bool accepts(const auto& read) {
  try {
    read();
    return true;
  } catch (const std::invalid_argument& error) {
    require(!encore_tests::acts_on_a_terminal(error.what()), "nothing in a refusal acts on a terminal");
    return false;
  }
}

// ---- a call -----------------------------------------------------------------------------------------------------------------

template <class Policy>
void go_on(const Policy& policy, const SavedCall& saved) {
  auto& clock = policy.clock();
  DurableCall call{policy, saved, IfPolicyChanged::accept};
  require(call.attempts() == saved.attempts, "no attempt is forgotten");
  const auto next = call.next();
  require(next.wait >= 0s && next.wait <= max_wait, "no wait is endless");
  if (!saved.under_way) require(next.wait <= saved.wait, "no wait is longer than it was chosen");
  if (!next.goes_on()) return require(call.resume() == next, "a call that has stopped stays so");
  clock.sleep_for(next.wait);
  clock.set_wall(WallTime::min());
  require(call.next().wait <= (saved.under_way ? next.wait : saved.wait),
          "nor when the calendar is set back");
  if (!call.resume().goes_on()) return;
  require(call.attempts() == saved.attempts + 1, "ordinals have no gap");
  require(call.slept() >= saved.slept, "what was slept is kept");
  require(call.attempt().remaining_or(1h) > 0s, "a timeout is never 0");
  accepts([&] { require(SavedCall::read(call.save()).under_way, "what is saved is read"); });
  static_cast<void>(call.threw());
}

void check_call(std::string_view text, unsigned choice) {
  SavedCall saved;
  if (!accepts([&] { saved = SavedCall::read(text); })) return;
  require(saved.attempts >= 1 && saved.wait >= 0s && saved.wait <= max_wait && saved.slept >= 0s,
          "what is read is in its range");
  const auto written = saved.text();
  require(SavedCall::read(written).text() == written, "what was written is read back");

  testing::FakeClock clock;
  constexpr Duration away[]{-1h, 0s, 1s, 10s, Duration::max()};
  const auto wall = TimePoint{saved.saved_at.time_since_epoch()};
  clock.set_wall(WallTime{later(wall, away[choice % 5]).time_since_epoch()});
  const RetryPolicy policy{RetryOn<TimeoutError>{}, clock, UnlimitedRetries{}, FibonacciBackoff{},
                           DecorrelatedJitter{}};
  try {
    throw TimeoutError{};  // so that a call can be told of it
  } catch (const TimeoutError&) {
    switch (choice / 5 % 3) {
      case 0: return go_on(policy, saved);
      case 1: return go_on(policy.with(MaxRetries{3}, TimeBudget{30s}, AttemptTimeout{5s}), saved);
      default:
        return go_on(policy.with(ExponentialBackoff{}, ProportionalJitter{}, TimeBudget{max_wait}), saved);
    }
  }
}

// ---- a run ------------------------------------------------------------------------------------------------------------------

using Run = ToolRun<CallLimit, CallLimit, LoopDetector, SpendLimit, StepLimit>;

struct Agent {
  testing::FakeClock clock;
  ToolCatalog tools;
  Agent() {
    tools.add("ship", ReplaySafety::repeatable_with_key, RetryPolicy{RetryOn<TimeoutError>{}, clock},
              [](const ToolCall&, const Attempt& attempt) { return attempt.idempotency_key(); });
    tools.add("ask", [](const ToolCall&) { throw Unretryable{"ask a person"}; });
  }
};
struct OneRun {
  Run run;
  explicit OneRun(const Agent& agent)
      : run{agent.tools,
            CallLimit{.thread_limit = 30, .run_limit = 20},
            CallLimit{.tool = "ship", .run_limit = 5},
            LoopDetector{.repeats = 3},
            SpendLimit{usd(2)},
            StepLimit{.run_limit = 50}} {}
};

void check_run(std::string_view text) {
  static const Agent agent;
  OneRun one{agent};
  const auto before = one.run.save();
  if (!accepts([&] { one.run.restore(text); }))
    return require(one.run.save() == before, "a restore that is refused changes nothing");
  const auto saved = one.run.save();
  OneRun other{agent};
  other.run.restore(saved);
  require(other.run.save() == saved, "a run that was saved comes back as it was");
  const auto answer = one.run.handle(ToolCall{.id = "call_0", .name = "ship", .arguments = "{}"});
  require(!answer.content.empty(), "every call is answered");
  other.run.restore(one.run.save());
  require(other.run.save() == one.run.save(), "nor does an answer stand in the way of that");
}

// ---- what is saved today ---------------------------------------------------------------------------------------------

std::string a_saved_call() {
  testing::FakeClock clock;
  const RetryPolicy policy{RetryOn<TimeoutError>{}, clock, Seed{7}};
  DurableCall call{policy, {.id = "job-7", .name = "mail", .deadline = TimePoint{1h}}};
  static_cast<void>(call.begin());
  try {
    throw TimeoutError{};
  } catch (const TimeoutError& error) {
    static_cast<void>(call.threw(&error));
  }
  return call.save();
}
std::string a_saved_run() {
  Agent agent;
  OneRun one{agent};
  for (const char* const arguments : {"1", "2", "2"})
    static_cast<void>(one.run.handle(ToolCall{.id = "call_0", .name = "ship", .arguments = arguments}));
  try {  // so that there is an open call
    static_cast<void>(one.run.handle(ToolCall{.id = "call_\xFF", .name = "ask"}));
  } catch (const Unretryable&) {}
  one.run.record(usd("0.0031"));
  return one.run.save();
}

/// The text with some bytes of it replaced: the first two of `patch` say where, the next how many, the rest by what.
std::string patched(std::string text, std::string_view patch) {
  if (patch.size() < 3) return text;
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(patch[at]));
  };
  return text.replace((byte(0) << 8 | byte(1)) % text.size(), byte(2), patch.substr(3));
}

}  // namespace

/// The input: a byte that chooses policy, clock and what follows it: the text itself, or a patch of what is saved today, so that
/// inputs do not grow old with the format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view given{reinterpret_cast<const char*>(data) + 1, size - 1};
  static const auto call = a_saved_call(), run = a_saved_run();
  const auto text = data[0] >= 0xC0   ? patched(run, given)
                    : data[0] >= 0x80 ? patched(call, given)
                                      : std::string{given};
  accepts([&] {
    const SavedLine line{text};
    accepts([&] { static_cast<void>(line.text("state")); });
  });
  check_call(text, data[0]);
  check_run(text);
  return 0;
}

#ifdef ENCORE_FUZZ_STANDALONE
int main(int count, char** arguments) {
  fuzz::feed_files(count, arguments);
  std::size_t inputs = 0;
  const auto feed = [&](const std::string& text) { fuzz::feed(static_cast<char>(inputs++ % 0x80) + text); };
  for (const auto& whole : {a_saved_call(), a_saved_run()}) {
    feed(whole);
    for (std::size_t length = 0; length < whole.size(); ++length) feed(whole.substr(0, length));
    // Every place changed to each of a few bytes, and every number to the ends of its range.
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const char byte : {'"', '9', '\x9B'}) {
        auto changed = whole;
        changed[at] = byte;
        feed(changed);
      }
      if (at > 0 && whole[at] >= '0' && whole[at] <= '9' && (whole[at - 1] == '"' || whole[at - 1] == ':')) {
        const auto digits = whole.find_first_not_of("0123456789", at) - at;
        for (const char* const number :
             {"0", "-1", "2147483646", "9223372036854775807", "-9223372036854775808"}) {
          auto changed = whole;
          feed(changed.replace(at, digits, number));
        }
      }
    }
  }
  std::printf("%zu inputs, no rule broken\n", inputs);
}
#endif

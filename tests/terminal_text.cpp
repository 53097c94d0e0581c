#include "terminal_text.hpp"

#include <encore/agent/model_text.hpp>
#include <encore/agent/tell_model.hpp>
#include <encore/analysis/trace_reader.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/saved_call.hpp>
#include <encore/refused.hpp>
#include <encore/retry_policy.hpp>
#include <encore/telemetry/log_text.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_test_macros.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::string_view_literals;
using encore_tests::acts_on_a_terminal, encore_tests::lines_act_on_a_terminal;

namespace {

// ---- the check itself ---------------------------------------------------------------------------------------------------

static_assert(!acts_on_a_terminal("") && !acts_on_a_terminal("tool 東京 \xF0\x9F\x98\x80 \xC2\xA0 \xC3\xA9"));
static_assert(acts_on_a_terminal("\x1B[2J") && acts_on_a_terminal("a\nb") && acts_on_a_terminal("\x7F"));
static_assert(acts_on_a_terminal("\0"sv));
static_assert(acts_on_a_terminal("\xC2\x80") && acts_on_a_terminal("\xC2\x85") &&
              acts_on_a_terminal("\xC2\x9F"));
static_assert(acts_on_a_terminal("\x9B") && acts_on_a_terminal("a\xFF") && acts_on_a_terminal("\xE2\x80"));
static_assert(acts_on_a_terminal("\xD8\x9C") && acts_on_a_terminal("\xE2\x80\x8E") &&
              acts_on_a_terminal("\xE2\x80\x8F"));
static_assert(acts_on_a_terminal("\xE2\x80\xA8") && acts_on_a_terminal("\xE2\x80\xAE") &&
              acts_on_a_terminal("\xE2\x81\xA9"));
static_assert(!acts_on_a_terminal("\xE2\x80\xA7") && !acts_on_a_terminal("\xE2\x80\xAF") &&
              !acts_on_a_terminal("\xE2\x81\xAA"));
static_assert(!lines_act_on_a_terminal("a\n\nb\n") && lines_act_on_a_terminal("a\n\xC2\x9B\n"));

// ---- who writes ---------------------------------------------------------------------------------------------------------

std::string utf8(char32_t character) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  const auto tail = [&](unsigned shift) { return byte(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) return {byte(character)};
  if (character < 0x800) return {byte(0xC0 | character >> 6), tail(0)};
  if (character < 0x10000) return {byte(0xE0 | character >> 12), tail(6), tail(0)};
  return {byte(0xF0 | character >> 18), tail(12), tail(6), tail(0)};
}

TEST_CASE("quoted text is escaped exactly where it would act on the terminal or end the quotes",
          "[terminal_text]") {
  for (char32_t character = 0; character <= 0x10FFFF; ++character) {
    if (character >= 0xD800 && character <= 0xDFFF) continue;
    const auto text = utf8(character);
    std::string quoted;
    encore::append_quoted(quoted, text);
    const auto kept = quoted == '"' + text + '"';
    const auto harmless = !encore_tests::is_unsafe(character) && character != U'"' && character != U'\\';
    if (kept == harmless && !acts_on_a_terminal(quoted)) continue;
    FAIL("U+" << std::hex << static_cast<unsigned>(character) << " is written " << quoted);
  }
}

TEST_CASE("names, ids and texts from outside do not act on a terminal, wherever they are written",
          "[terminal_text]") {
  for (const auto hostile : encore_tests::hostile_texts) {
    const auto name = "a" + std::string{hostile} + "b";
    INFO(name);
    const auto safe = [&](std::string_view written) { return !acts_on_a_terminal(written); };
    CHECK(safe(encore::Refused{encore::StopReason::circuit_open, name, name}.what()));
    CHECK(safe(encore::testing::ScriptExhausted{1, name, 2}.what()));

    // A call that fails, in a log of each shape, in a recording, and as the model is told of it.
    struct Failed : std::runtime_error {
      using std::runtime_error::runtime_error;
    };
    std::string logs;
    encore::testing::Recorder trace;
    const encore::RetryPolicy policy{
        encore::RetryOn<Failed>{}, encore::MaxRetries{0}, encore::TellModel{}, trace,
        encore::Observe{[&](const encore::Event& event) {
          logs += log_text(event, {.shape = encore::LineShape::json, .exception_text = true}) + '\n';
          logs += log_text(event, {.exception_text = true}) + '\n';
        }}};
    const auto answer =
        policy.run({.id = name, .name = name}, [&]() -> encore::ToolResult { throw Failed{name}; });
    CHECK(safe(answer.content));
    CHECK(logs.size() > 100);
    CHECK(!lines_act_on_a_terminal(logs));
    std::ostringstream recorded;
    for (const auto& event : trace.events()) recorded << event << '\n';
    CHECK(!lines_act_on_a_terminal(recorded.str()));

    // A log's and a saved line's reader, which say what is wrong with it.
    encore::TraceReader reader;
    reader.begin_file(name);
    static_cast<void>(reader.read("{\"encore.event\":\"" + name + "\"}"));
    static_cast<void>(reader.read(name));
    CHECK(reader.skipped_count() == 2);
    CHECK(!lines_act_on_a_terminal(skipped_text(reader)));
    try {
      static_cast<void>(encore::SavedCall::read("{\"state\":\"call\",\"" + name + "\":1"));
    } catch (const std::invalid_argument& refused) {
      CHECK(safe(refused.what()));
    }
  }
}

}  // namespace

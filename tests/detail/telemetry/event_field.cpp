#include "../../telemetry/hand_made.hpp"
#include <encore/detail/telemetry/event_field.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;
using encore::Event;
using encore::EventKind;
using encore::detail::EventField;

struct Kept {
  int ordinal = 0;
  std::string request_id{};
  std::optional<encore::Duration> wait{};
  int asked = 0;
};
constexpr bool if_set(const Kept&, bool set) { return set; }
constexpr bool on_retries(const Kept& kept, bool) { return kept.ordinal > 1; }
int asked(const Event&, const int& what) { return what; }

constexpr EventField<false, &Kept::ordinal, &Event::ordinal, if_set> ordinal{
    {"attempt", "a"}, nullptr, {"attempts", "b"}};
constexpr EventField<true, &Kept::request_id, &encore::AttemptNotes::request_id, if_set> request_id{
    {"r", "r"}};
constexpr EventField<true, &Kept::wait, &Event::wait, on_retries> wait{{"w", "w"}};
constexpr EventField<false, &Kept::asked, asked, if_set> what_was_asked{};

static_assert(request_id.of_attempt && !ordinal.of_attempt);
static_assert(wait.is<&Kept::wait>() && !wait.is<&Kept::ordinal>());
static_assert(ordinal.names_if(false).json == "a" && ordinal.names_if(true).json == "b");
static_assert(wait.names_if(true).json == "w");

TEST_CASE(
    "a field is copied from the event, from the notes of its attempt, or by a function of what was asked for "
    "[F5]",
    "[event_field]") {
  const tests::StillClock clock;
  std::optional<encore::TimePoint> started;
  auto event = tests::event_of(EventKind::attempt_failed, 2, clock, started);
  event.wait = 250ms;
  const int what = 7;
  Kept kept;
  const auto record = [&](const auto& field) { field.record(kept, event, what); };
  record(ordinal), record(request_id), record(wait), record(what_was_asked);
  CHECK(kept.ordinal == 2);
  CHECK(kept.request_id.empty());  // nobody noted anything
  CHECK(kept.wait == 250ms);
  CHECK(kept.asked == 7);

  encore::AttemptNotes notes;
  const encore::Call call{.id = "call-17"};
  const encore::CurrentCall current{call};
  const encore::TimeLimits limits{};
  encore::Attempt{2, current, notes, limits, encore::Now{clock}}.note_request_id("r 9");
  event.notes = &notes;
  record(request_id);
  CHECK(kept.request_id == "r 9");
  CHECK(request_id.value_text(kept) == "\"r 9\"");
  CHECK(wait.value_text(kept) == "250ms");
}

TEST_CASE("a record's field is set when it differs from its default, and written when its condition holds",
          "[event_field]") {
  Kept kept;
  CHECK(!ordinal.is_set(kept));
  CHECK(!wait.is_written(kept));
  kept = {.ordinal = 2, .request_id = "r", .wait = 0s};
  CHECK(ordinal.is_written(kept));
  CHECK(wait.is_set(kept));
  CHECK(wait.may_be_written(kept));
  wait.clear(kept);
  request_id.clear(kept);
  CHECK(!kept.wait);
  CHECK(kept.request_id.empty());
  CHECK(wait.is_written(kept));  // on a retry, whatever it is
}

}  // namespace

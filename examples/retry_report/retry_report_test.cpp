// How retry_report counts, chooses and draws, on numbers worked out by hand.
#include "attempts_over_time.hpp"
#include "drawn_lane.hpp"
#include "html_text.hpp"
#include "lane_choice.hpp"
#include "page.hpp"
#include "span_text.hpp"
#include "time_axis.hpp"
#include "track.hpp"
#include <encore/analysis/traced_call.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using Catch::Approx;
using encore::AttemptEnd;
using encore::FindingKind;
using encore::StopReason;
using encore::TracedAttempt;
using encore::TracedCall;
using encore::WallTime;
using Ids = std::vector<std::string>;

constexpr WallTime ten{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1} + 10h};

TracedAttempt attempt(int ordinal, encore::Duration from, encore::Duration took,
                      AttemptEnd end = AttemptEnd::failed) {
  return {{.ordinal = ordinal, .took = took}, end, ten + from, ten + from + took};
}

/// A call that ended when its last attempt did.
TracedCall call(std::string id, StopReason reason, std::vector<TracedAttempt> attempts) {
  static std::uint64_t records = 0;
  TracedCall made{.id = std::move(id), .tool = "tool", .reported_by_policy = true, .finished = true};
  made.attempts = std::move(attempts);
  made.attempt_count = made.attempts_made = static_cast<int>(made.attempts.size());
  for (const auto& each : made.attempts) made.ordinals.add(each.ordinal);
  made.reason = reason;
  if (reason != StopReason::succeeded) made.error_type = "TimeoutError";
  made.began_at = made.attempts.empty() ? ten : made.attempts.front().started;
  made.ended_at = made.attempts.empty() ? ten : made.attempts.back().ended;
  made.first_record = ++records;
  return made;
}
TracedCall success(std::string id, encore::Duration from) {
  return call(std::move(id), StopReason::succeeded, {attempt(1, from, 1s, AttemptEnd::succeeded)});
}
TracedCall exhausted(std::string id, encore::Duration from) {
  return call(std::move(id), StopReason::retries_exhausted,
              {attempt(1, from, 1s), attempt(2, from + 2s, 1s)});
}

Ids ids(const LaneChoice& choice) {
  Ids all;
  for (const auto& lane : choice.lanes()) all.push_back(lane.call.id);
  return all;
}

std::vector<DrawnLane> drawn_all(std::initializer_list<TracedCall> calls) {
  std::vector<DrawnLane> all;
  for (const auto& each : calls) all.push_back(drawn({each, {}}, ten));
  return all;
}

}  // namespace

TEST_CASE("text from a log is no markup, acts on nothing, and is cut where it is long") {
  CHECK(html_text("a<b>&\"c'\\") == "a&lt;b&gt;&amp;&quot;c&#39;\\");
  CHECK(html_text(std::string_view{"\0\t\n\x1b\x7f", 5}) == "\\u0000\\u0009\\u000a\\u001b\\u007f");
  CHECK(html_text("\u0085\u200f\u202e\u2066\u2028") == "\\u0085\\u200f\\u202e\\u2066\\u2028");
  CHECK(html_text("\xff\xc0\xaf\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(html_text("\xEF\xBF\xBE\xEF\xBF\xBF") == "\uFFFD\uFFFD");  // U+FFFE, U+FFFF
  CHECK(html_text("שלום, 世界 \U0001F600") == "שלום, 世界 \U0001F600");
  CHECK(html_text("世界世界", 4) == "世界世界");
  CHECK(html_text("世界世界&", 4) == "世界世界…");
}

TEST_CASE("spans are read in the unit that fits") {
  CHECK(span_text(0) == "0 s");
  CHECK(span_text(12e-9) == "12 ns");
  CHECK(span_text(250e-6) == "250 µs");
  CHECK(span_text(0.0125) == "12.5 ms");
  CHECK(span_text(0.9999) == "1 s");
  CHECK(span_text(1.5) == "1.5 s");
  CHECK(span_text(60) == "1 min");
  CHECK(span_text(125.4) == "2 min 5 s");
  CHECK(span_text(3 * 3600 + 20 * 60) == "3 h 20 min");
  CHECK(span_text(86'400) == "1 d");
  CHECK(span_text(52 * 3600) == "2 d 4 h");
}

TEST_CASE("where all calls fit they are drawn in the order in which they began") {
  LaneChoice choice{5, {}, {}};
  choice.add(exhausted("later", 20s));
  choice.add(success("first", 0s));
  choice.add(success("between", 10s));
  CHECK(ids(choice) == Ids{"first", "between", "later"});
  CHECK(choice.lanes().back().findings == std::vector{FindingKind::exhausted});
}

TEST_CASE("of many calls those are drawn of which something was found, one of each kind in turn") {
  LaneChoice choice{4, {}, {}};
  for (int i = 0; i < 100; ++i) choice.add(success(fmt::format("good-{}", i), 1s * i));
  for (int i = 0; i < 100; ++i) choice.add(exhausted(fmt::format("spent-{}", i), 100s + 1s * i));
  auto over = exhausted("over", 300s);
  over.max_attempts = 1;
  choice.add(over);
  // The gravest has its turn first, then one of the exhausted, then those that are left of them.
  CHECK(ids(choice) == Ids{"spent-0", "spent-1", "spent-2", "over"});
  CHECK(choice.calls() == 201);
}

TEST_CASE("calls without a finding fill what room is left") {
  LaneChoice choice{3, {}, {}};
  for (int i = 0; i < 9; ++i) choice.add(success(fmt::format("good-{}", i), 1s * i));
  choice.add(exhausted("spent", 9s));
  CHECK(ids(choice) == Ids{"good-0", "good-1", "spent"});
}

TEST_CASE("attempts are counted in columns that grow wider with the log") {
  AttemptsOverTime over_time;
  over_time.add(
      call("a", StopReason::succeeded, {attempt(1, 0s, 1ms), attempt(2, 5ms, 1ms, AttemptEnd::succeeded)}));
  CHECK(over_time.width() == 1ms);
  CHECK(over_time.columns().size() == 2);

  over_time.add(success("b", 1s));  // 1,000 columns of 1 ms, 100 of 10 ms
  CHECK(over_time.width() == 10ms);
  REQUIRE(over_time.columns().size() == 2);
  CHECK(over_time.columns().begin()->second == AttemptsOverTime::Column{.succeeded = 1, .failed = 1});

  over_time.add(success("earlier", -59min));
  CHECK(over_time.width() == 1min);
  CHECK(over_time.columns().size() == 2);
  CHECK(over_time.columns().begin()->second == AttemptsOverTime::Column{.succeeded = 1});
  CHECK(over_time.columns().rbegin()->second == AttemptsOverTime::Column{.succeeded = 2, .failed = 1});

  TracedAttempt without_time{{.ordinal = 1}};
  over_time.add(call("c", StopReason::retries_exhausted, {without_time}));
  CHECK(over_time.without_time() == 1);
}

TEST_CASE("the times of all calendars fit") {
  AttemptsOverTime over_time;
  TracedAttempt first{{.ordinal = 1}, AttemptEnd::unknown, (WallTime::min)()};
  TracedAttempt last{
      {.ordinal = 2, .took = (encore::Duration::max)()}, AttemptEnd::unknown, (WallTime::max)()};
  const auto both = call("a", StopReason::succeeded, {first, last});
  over_time.add(both);
  CHECK(over_time.columns().size() == 2);

  const auto lane = drawn({both, {}}, (WallTime::min)());
  CHECK(lane.attempts[1].begin == Approx(1.8446744e10));  // 2^64 ns
  const TimeAxis axis{{lane}};
  const auto places = bars(lane, axis);
  CHECK(places[0].begin == Approx(0));
  CHECK(places[1].end <= 100);
}

TEST_CASE("calls that lie close together share the clock's axis") {
  const auto lanes = drawn_all({success("a", 0s), success("b", 4s)});
  const TimeAxis axis{lanes};
  CHECK(axis.is_clock());
  REQUIRE(axis.cuts().size() == 1);  // three seconds in which nothing ran, against two in which something did
  CHECK(axis.cuts().front().text == "3 s");
  CHECK(axis.place(lanes[0], 0) == Approx(0));
  // 97 % for two seconds and a margin of 2 %: 47.549 % each.
  CHECK(axis.place(lanes[0], 1) == Approx(47.549).epsilon(1e-4));
  CHECK(axis.place(lanes[1], 4) == Approx(50.549).epsilon(1e-4));
  CHECK(axis.shows(lanes[0], 0.5));
  CHECK_FALSE(axis.shows(lanes[0], 2));
}

TEST_CASE("a gap that is short beside the calls is not cut out") {
  const auto lanes = drawn_all({success("a", 0s), success("b", 1100ms)});
  const TimeAxis axis{lanes};
  CHECK(axis.cuts().empty());
  CHECK(axis.place(lanes[1], 2.1) == Approx(100 / 1.02));
}

TEST_CASE("calls that would be too small on the clock's axis begin at its left end") {
  std::vector<DrawnLane> lanes;
  for (int i = 0; i < 30; ++i) lanes.push_back(drawn({success("a", 1s * i), {}}, ten));
  const TimeAxis axis{lanes};
  CHECK_FALSE(axis.is_clock());
  for (const auto& lane : lanes) CHECK(axis.place(lane, lane.call.begin) == Approx(0));
  CHECK(axis.place(lanes[7], 8) == Approx(100 / 1.02));
}

TEST_CASE("there is a line every so often, at times that people can read") {
  const auto step = [](encore::Duration length) {
    const auto lanes =
        drawn_all({call("a", StopReason::succeeded, {attempt(1, 0s, length, AttemptEnd::succeeded)})});
    return TimeAxis{lanes}.step();
  };
  CHECK(step(8ms) == Approx(0.001));
  CHECK(step(10s) == Approx(2));
  CHECK(step(7min) == Approx(60));
  CHECK(step(100min) == Approx(1'200));
  CHECK(step(30h) == Approx(14'400));
  CHECK(step(24h * 30) == Approx(5 * 86'400));
  const auto lanes = drawn_all({success("a", 0s)});
  std::vector<std::string> labels;
  const TimeAxis axis{lanes};
  for (const auto& tick : axis.ticks())
    if (!tick.text.empty()) labels.push_back(tick.text);
  CHECK(labels == std::vector<std::string>{"0 s", "200 ms", "400 ms", "600 ms", "800 ms", "1 s"});
}

TEST_CASE("a deadline has its place on the axis if it is not far off") {
  auto near = exhausted("a", 0s);  // three seconds
  near.deadline = ten + 5s;
  auto far = near;
  far.deadline = ten + 60s;
  const auto with_near = drawn_all({near});
  const auto with_far = drawn_all({far});
  CHECK(TimeAxis{with_near}.shows(with_near[0], 5));
  CHECK(TimeAxis{with_near}.place(with_near[0], 5) == Approx(100 / 1.02));
  CHECK_FALSE(TimeAxis{with_far}.shows(with_far[0], 60));
  CHECK(TimeAxis{with_far}.place(with_far[0], 3) == Approx(100 / 1.02));
}

TEST_CASE("attempts without known times are drawn in their order") {
  const auto lanes = drawn_all(
      {call("a", StopReason::retries_exhausted, {{{.ordinal = 1}}, {{.ordinal = 2}}, {{.ordinal = 3}}})});
  const TimeAxis axis{lanes};
  CHECK_FALSE(axis.has_times());
  CHECK(axis.ticks().empty());
  const auto places = bars(lanes[0], axis);
  REQUIRE(places.size() == 3);
  CHECK(places[0].begin < places[0].end);
  CHECK(places[0].end < places[1].begin);
  CHECK(places[1].end < places[2].begin);
}

TEST_CASE("bars can be seen, and none lies upon another, however short the attempts were") {
  std::vector<TracedAttempt> at_once;
  for (int i = 1; i <= 64; ++i) at_once.push_back(attempt(i, 10s, 0s));
  const auto lanes = drawn_all({success("long", 0s), call("short", StopReason::retries_exhausted, at_once)});
  const TimeAxis axis{lanes};
  const auto places = bars(lanes[1], axis);
  REQUIRE(places.size() == 64);
  CHECK(places.front().begin >= 0);
  CHECK(places.back().end <= 100);
  for (std::size_t i = 0; i < places.size(); ++i) {
    CHECK(places[i].length() >= 0.69);
    if (i > 0) CHECK(places[i].begin > places[i - 1].end);
  }
}

TEST_CASE("a page of many calls, tools and findings is no longer than one of some") {
  const auto length_of = [](int calls) {
    encore::Diagnosis diagnosis;
    LaneChoice choice{60, {}, {}};
    AttemptsOverTime over_time;
    for (int i = 0; i < calls; ++i) {
      auto each = exhausted(fmt::format("call-{:06}", i), 1s * i);
      each.tool = fmt::format("tool-{:03}", i % 500);
      each.error_type = fmt::format("Error{:04}", i % 3'000);
      diagnosis.add(each);
      choice.add(each);
      over_time.add(each);
    }
    diagnosis.finish();
    const encore::TraceReader reader;
    const std::vector<std::string> logs{"a.jsonl"};
    return page({.logs = logs,
                 .reader = reader,
                 .diagnosis = diagnosis,
                 .lanes = choice,
                 .over_time = over_time})
        .size();
  };
  const auto some = length_of(1'000);
  CHECK(some < 300'000);
  CHECK(length_of(20'000) < some + 10'000);
}

#include "page.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

/// A page of the defaults, made once.
const std::string& default_page() {
  static const std::string text = page(Options{});
  return text;
}

/// What makes a text not well-formed: elements must be closed in their order, attributes quoted and given once, and there
/// must be no stray mark-up. Empty if nothing does.
std::string fault_of(std::string_view text) {
  constexpr std::string_view doctype = "<!DOCTYPE html>";
  if (!text.starts_with(doctype)) return "no doctype";
  text.remove_prefix(doctype.size());
  std::vector<std::string> open;
  std::set<std::string> ids;
  while (!text.empty()) {
    const auto mark = std::min(text.find_first_of("<>&"), text.size());
    text.remove_prefix(mark);
    if (text.empty()) break;
    if (text.front() == '>') return "a stray > before " + std::string{text.substr(0, 40)};
    if (text.front() == '&') {
      const std::array<std::string_view, 4> entities{"&amp;", "&lt;", "&gt;", "&quot;"};
      if (std::ranges::none_of(entities, [&](auto entity) { return text.starts_with(entity); }))
        return "a stray & before " + std::string{text.substr(0, 40)};
      text.remove_prefix(1);
      continue;
    }
    std::size_t end = 1;
    bool quoted = false;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a stray < in " + std::string{text.substr(0, end)};
    }
    if (end >= text.size()) return "an element without end: " + std::string{text.substr(0, 40)};
    const auto tag = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return "</" + std::string{tag.substr(1)} + "> closes nothing";
      open.pop_back();
      continue;
    }
    for (auto equals = tag.find('='); equals != tag.npos;) {
      if (equals + 1 >= tag.size() || tag[equals + 1] != '"') return "no quotes in " + std::string{tag};
      const auto closing = tag.find('"', equals + 2);
      if (tag.substr(0, equals).ends_with(" id") &&
          !ids.emplace(tag.substr(equals + 2, closing - equals - 2)).second)
        return "an id twice: " + std::string{tag};
      equals = tag.find('=', closing);
    }
    if (!tag.ends_with('/')) open.emplace_back(tag.substr(0, tag.find(' ')));
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t number = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++number;
  return number;
}

std::string cell(const std::string& text, const std::string& id) {
  const auto start = text.find("<td id=\"" + id + "\">");
  if (start == text.npos) throw std::runtime_error{"there is no cell " + id};
  const auto from = text.find('>', start) + 1;
  return text.substr(from, text.find('<', from) - from);
}
double number(const std::string& text, const std::string& id) {
  return std::strtod(cell(text, id).c_str(), nullptr);
}

}  // namespace

TEST_CASE("the page is well-formed, with charts or without", "[page]") {
  CHECK(fault_of(default_page()) == "");
  Options never;
  never.policy.max_retries = 0;
  never.all_shapes = false;
  CHECK(fault_of(page(never)) == "");
  // The check itself can fail.
  CHECK(fault_of("<!DOCTYPE html><p><b>x</p></b>") == "</p> closes nothing");
  CHECK(fault_of("<!DOCTYPE html><p id=\"a\"></p><p id=\"a\"></p>") == "an id twice: p id=\"a\"");
  CHECK(fault_of("<!DOCTYPE html><p>a & b</p>") == "a stray & before & b</p>");
  CHECK(fault_of("<!DOCTYPE html><p>") == "<p> is not closed");
}

TEST_CASE("the page needs nothing but itself", "[page]") {
  for (const auto* part :
       {"http:", "https:", "//", "<script", "<link", "<img", "src=", "href", "url(", "@import"}) {
    INFO(part);
    CHECK(count(default_page(), part) == 0);
  }
}

TEST_CASE("the page has its sections, and every chart its axes with their units", "[page]") {
  const auto& text = default_page();
  for (const auto* section : {"delays", "contention", "outage"})
    CHECK_THAT(text, ContainsSubstring("<section id=\"" + std::string{section} + "\">"));
  // This policy and ten shapes, then two charts of contention and two of the outage.
  CHECK(count(text, "<svg ") == 11 + 2 + 2);
  CHECK(count(text, ">wait, s</text>") == 11);
  CHECK(count(text, ">retry</text>") == 11);
  CHECK(count(text, ">clients</text>") == 2);
  CHECK(count(text, ">calls</text>") == 1);
  CHECK(count(text, ">time, s</text>") == 1 + 2);
  CHECK(count(text, ">requests per second</text>") == 1);
  CHECK(count(text, ">answers per second</text>") == 1);
  // Six strategies in two charts, five lines of load and four of goodput, each with an entry in its legend.
  CHECK(count(text, "<polyline ") == 2 * 6 + 5 + 4);
  CHECK(count(text, ">this policy</text>") == 2);
}

TEST_CASE("the page has the waits of the policy: 250 ms, doubled, a quarter shorter or longer", "[page]") {
  Options options;
  options.policy.delays.initial_delay = 250ms;
  options.all_shapes = false;
  const auto text = page(options);
  CHECK_THAT(text,
             ContainsSubstring("<tr><th>1</th><td>0.1875</td><td>0.25</td><td>0.3125</td></tr>\n"
                               "<tr><th>2</th><td>0.375</td><td>0.5</td><td>0.625</td></tr>\n"
                               "<tr><th>in all</th><td>0.5625</td><td>0.75</td><td>0.9375</td></tr>\n"));
  CHECK(count(text, "class=\"bar\"") == 2);
  CHECK(count(text, "<svg ") == 1 + 2 + 2);
}

TEST_CASE("the page has the AWS curves", "[page]") {
  // tests/data/aws_backoff.csv at 100 clients, and four standard errors of 40 trials there.
  struct Reference {
    const char* strategy;
    double calls, calls_may_differ, seconds, seconds_may_differ;
  };
  for (const auto& [strategy, calls, calls_differ, seconds, seconds_differ] :
       {Reference{"none", 2423, 20, 2.03, 0.03}, Reference{"expo", 1855, 37, 63.4, 2.4},
        Reference{"full", 796, 5, 4.89, 0.34}, Reference{"equal", 811, 5, 6.59, 0.43}}) {
    INFO(strategy);
    CHECK_THAT(number(default_page(), std::string{"calls-"} + strategy + "-100"),
               WithinAbs(calls, calls_differ));
    CHECK_THAT(number(default_page(), std::string{"seconds-"} + strategy + "-100"),
               WithinAbs(seconds, seconds_differ));
  }
}

TEST_CASE("a policy that waits as a strategy does has the strategy's curve", "[page]") {
  Options options;
  options.policy.delays = {.initial_delay = 10ms, .factor = 2.0, .max_delay = 2s};
  options.policy.jitter = encore::JitterShape::full;
  const auto text = page(options);
  for (const auto* what : {"calls-", "seconds-"})
    for (const auto* clients : {"-10", "-50", "-100"})
      CHECK(cell(text, std::string{what} + "own" + clients) ==
            cell(text, std::string{what} + "full" + clients));
}

TEST_CASE("the page shows an outage that outlasts itself, and what ends it", "[page]") {
  const auto& text = default_page();
  // 200 calls a second of three attempts are twice what the backend is good for, for ever.
  CHECK_THAT(number(text, "load-alone"), WithinAbs(600, 10));
  CHECK(number(text, "answers-alone") == 0);
  CHECK(cell(text, "recovery-alone") == "not in 50 s");
  for (const auto* guard : {"budget", "breaker", "both"}) {
    INFO(guard);
    CHECK_THAT(number(text, std::string{"load-"} + guard), WithinAbs(200, 1));
    CHECK_THAT(number(text, std::string{"answers-"} + guard), WithinAbs(200, 1));
  }
  // A budget leaves the queue of the outage, some 2,200 requests, to be worked off at 80 a second; a breaker lets none arise.
  CHECK_THAT(number(text, "recovery-budget"), WithinAbs(2200.0 / 80, 4));
  CHECK(number(text, "recovery-breaker") <= 5);

  // With fewer calls than capacity / attempts it ends by itself.
  Options few;
  few.outage.calls_per_second = 50;
  CHECK_THAT(number(page(few), "load-alone"), WithinAbs(50, 1));
}

#include "chart.hpp"
#include "sections.hpp"
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/retry_budget.hpp>

#include <fmt/format.h>
#include <simulation/store.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

double seconds(encore::Duration duration) { return std::chrono::duration<double>{duration}.count(); }

constexpr std::uint64_t seed = 17;
constexpr auto quiet = 10s;  // before the outage

struct Course {
  std::string id;
  std::string name;
  Look look;
  std::vector<simulation::Second> seconds;
};

std::vector<Course> courses(const Options& options, encore::Duration lasts) {
  const simulation::StoreOptions store{.requests_per_second = options.outage.requests_per_second,
                                       .outage_begins = quiet,
                                       .outage_lasts = options.outage.lasts};
  const simulation::Traffic traffic{
      .calls_per_second = options.outage.calls_per_second, .timeout = options.outage.timeout, .lasts = lasts};
  auto settings = options.policy;
  settings.seed = seed;
  const encore::RetryPolicy policy{encore::RetryIfResult{simulation::TimedOut{}}, settings};
  const encore::CircuitBreakerOptions five_seconds{.open_for = 5s};
  encore::RetryBudget budget, budget_of_both;
  encore::CircuitBreaker breaker{five_seconds}, breaker_of_both{five_seconds};
  return {{"alone", "policy alone", {"#b3540b", 3.5, "none"}, simulation::load(policy, store, traffic)},
          {"budget",
           "with budget",
           {"#0b62a4", 2.5, "10 4"},
           simulation::load(policy.with(budget), store, traffic)},
          {"breaker",
           "with breaker",
           {"#007a5a", 2.5, "2 3"},
           simulation::load(policy.with(breaker), store, traffic)},
          {"both",
           "with both",
           {"#000000", 1.5, "none"},
           simulation::load(policy.with(budget_of_both, breaker_of_both), store, traffic)}};
}

/// Seconds from the outage's end until nine of ten calls are answered in time, and so to the end; negative if never.
double recovery(const Course& course, double outage_ends) {
  std::size_t bad = course.seconds.size();
  while (bad > 0 && course.seconds[bad - 1].answered_in_time >= 0.9 * course.seconds[bad - 1].calls) --bad;
  if (bad == course.seconds.size()) return -1;
  return std::max(0.0, static_cast<double>(bad) - outage_ends);
}

}  // namespace

std::string outage_section(const Options& options) {
  const double ends = seconds(quiet + options.outage.lasts);
  const double lasts = std::ceil(seconds(quiet + std::max<encore::Duration>(6 * options.outage.lasts, 60s)));
  const auto all = courses(options, encore::to_duration(std::chrono::duration<double>{lasts}));
  const Shade shade{seconds(quiet), ends, "outage"};
  Chart load{.title = "Requests that arrive at the backend",
             .x = {.label = "time, s", .max = lasts},
             .y = {.label = "requests per second", .max = 1.15 * options.outage.requests_per_second},
             .shade = shade};
  auto goodput = load;
  goodput.title = "Calls that are answered in time";
  goodput.y.label = "answers per second";
  std::string names, most_cells, load_cells, answer_cells, recovery_cells;
  for (const auto& course : all) {
    Line requests{course.name, course.look, {}}, answers{course.name, course.look, {}};
    int most = 0;
    for (std::size_t i = 0; i < course.seconds.size(); ++i) {
      const auto& second = course.seconds[i];
      const double middle = static_cast<double>(i) + 0.5;
      requests.points.push_back({middle, static_cast<double>(second.requests)});
      answers.points.push_back({middle, static_cast<double>(second.answered_in_time)});
      most = std::max(most, second.requests);
    }
    load.y.max = std::max(load.y.max, 1.15 * most);
    load.lines.push_back(std::move(requests));
    goodput.lines.push_back(std::move(answers));
    const double after = recovery(course, ends);
    const auto last = simulation::rates(course.seconds, course.seconds.size() - 10, 10);
    const auto cell = [&](const char* what, const std::string& value) {
      return fmt::format("<td id=\"{}-{}\">{}</td>", what, course.id, value);
    };
    names += fmt::format("<th>{}</th>", course.name);
    most_cells += cell("most", std::to_string(most));
    load_cells += cell("load", fmt::format("{:.0f}", last.requests));
    answer_cells += cell("answers", fmt::format("{:.0f}", last.answered_in_time));
    recovery_cells += cell("recovery", after < 0 ? fmt::format("not in {:.0f} s", lasts - ends)
                                                 : fmt::format("{:.0f} s", after));
  }
  load.lines.push_back(
      {"capacity",
       {"#6b6b6b", 1, "6 3"},
       {{0, options.outage.requests_per_second}, {lasts, options.outage.requests_per_second}}});
  return fmt::format(
      "<section id=\"outage\"><h2>A backend through an outage</h2>\n"
      "<p>{:.6g} calls a second come to a backend that is good for {:.6g} requests a second and stands still "
      "for "
      "{}. An attempt is given up after {}; the backend is not told, and works off what nobody waits for any "
      "more. The budget lets retries be a tenth of the calls; the breaker opens after five failures in a "
      "row, for "
      "5 s.</p>\n<div class=\"charts\">{}{}</div>\n"
      "<table><caption>The same in numbers</caption><tr><th></th>{}</tr>\n"
      "<tr><th>most requests in a second</th>{}</tr>\n<tr><th>requests per second at the end</th>{}</tr>\n"
      "<tr><th>answers in time per second at the end</th>{}</tr>\n"
      "<tr><th>from the outage's end until nine calls of ten are answered in time</th>{}</tr>\n"
      "</table></section>\n",
      options.outage.calls_per_second, options.outage.requests_per_second, text_of(options.outage.lasts),
      text_of(options.outage.timeout),
      figure(load, "Load: what arrives at the backend, first attempts and retries."),
      figure(goodput, "Goodput: what is answered before its caller has given up."), names, most_cells,
      load_cells, answer_cells, recovery_cells);
}

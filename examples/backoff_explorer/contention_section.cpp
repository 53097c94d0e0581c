#include "chart.hpp"
#include "sections.hpp"

#include <fmt/format.h>
#include <simulation/strategies.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::array<int, 11> numbers_of_clients{1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
constexpr int trials = 40;
constexpr std::uint64_t seed = 17;

struct Curve {
  std::string id;
  Line calls;
  Line time;
};

template <class Contend>
Curve curve(std::string id, const std::string& name, const Look& look, const Contend& contend) {
  Curve result{.id = std::move(id), .calls = {name, look, {}}, .time = {name, look, {}}};
  for (const int clients : numbers_of_clients) {
    const auto sample = contend(clients);
    result.calls.points.push_back({static_cast<double>(clients), sample.writes.mean()});
    result.time.points.push_back({static_cast<double>(clients), sample.milliseconds.mean() / 1000});
  }
  return result;
}

std::vector<Curve> curves(const encore::RetrySettings& policy) {
  const auto of_strategy = [](const char* strategy, const char* name, const Look& look) {
    return curve(strategy, name, look,
                 [&](int clients) { return simulation::contend(strategy, clients, trials, seed); });
  };
  return {of_strategy("none", "no wait", {"#6b6b6b", 2, "1.5 3"}),
          of_strategy("expo", "exponential", {"#b3540b", 2, "14 5"}),
          of_strategy("full", "full jitter", {"#0b62a4", 2, "none"}),
          of_strategy("equal", "equal jitter", {"#007a5a", 2, "10 3 2 3"}),
          of_strategy("decorrelated", "decorrelated", {"#8a3b8f", 2, "5 3"}),
          curve("own", "this policy", {"#000000", 4, "none"}, [&](int clients) {
            return simulation::contend(policy.part<encore::role::Backoff>(),
                                       policy.part<encore::role::Jitter>(), clients, trials, seed);
          })};
}

}  // namespace

std::string contention_section(const Options& options) {
  const auto all = curves(options.policy);
  Chart calls{.title = "Tries to write, of all clients together",
              .x = {.label = "clients", .max = 100},
              .y = {.label = "calls"}};
  Chart time{.title = "Time until the last client is done",
             .x = {.label = "clients", .max = 100},
             .y = {.label = "time, s", .min = 0.01, .max = 0.1, .logarithmic = true}};
  std::string rows;
  for (const auto& one : all) {
    calls.lines.push_back(one.calls);
    time.lines.push_back(one.time);
    for (const auto& point : one.calls.points) calls.y.max = std::max(calls.y.max, 1.05 * point.y);
    for (const auto& point : one.time.points)
      while (time.y.max < point.y) time.y.max *= 10;
    const auto cells = [&](const char* what, const Line& line, int digits) {
      for (const std::size_t at : {std::size_t{1}, std::size_t{5}, std::size_t{10}})
        rows += fmt::format("<td id=\"{}-{}-{}\">{:.{}f}</td>", what, one.id, numbers_of_clients[at],
                            line.points[at].y, digits);
    };
    rows += fmt::format("<tr><th>{}</th>", escaped(one.calls.name));
    cells("calls", one.calls, 0);
    cells("seconds", one.time, 2);
    rows += "</tr>\n";
  }
  return fmt::format(
             "<section id=\"contention\"><h2>Clients that contend for one row</h2>\n"
             "<p>All clients begin at once: each reads the row and writes it back, and tries again if "
             "another was "
             "faster. A message is 10 ms under way, give or take 2 ms. The strategies are those of the AWS "
             "Architecture Blog, 2015: 10 ms, doubled, at most 2 s. Of this policy the waits are taken, and "
             "no limit. "
             "Means of {} trials on fake time.</p>\n<div class=\"charts\">{}{}</div>\n"
             "<table><caption>The same in numbers</caption><tr><th></th><th colspan=\"3\">calls</th>"
             "<th colspan=\"3\">seconds</th></tr>\n<tr><th>clients</th>",
             trials, figure(calls, "Calls: each is load, and all but one of each client are in vain."),
             figure(
                 time,
                 "Time until the last client is done. Each line of the grid is ten times the one below.")) +
         "<th>10</th><th>50</th><th>100</th><th>10</th><th>50</th><th>100</th></tr>\n" + rows +
         "</table></section>\n";
}

// The simulation of contention in full, beside its reference: all strategies, all numbers of clients. Writes every row to the
// file that it is given, prints one line for each strategy, and ends with 1 if one row is off by more than it may be.
#include "simulation/reference.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

namespace {

constexpr int trials = 100;
constexpr std::uint64_t seed = 17;

/// Of all rows of one strategy.
struct Summary {
  int rows = 0;
  int agreeing = 0;
  simulation::ComparedRow at_100_clients{};
};

bool agrees(const simulation::ComparedRow& compared) {
  return compared.calls.agrees(4.0, 0.01) && compared.time.agrees(4.0, 0.05);
}

void print(std::string_view strategy, const Summary& summary) {
  const auto& [calls, time] = summary.at_100_clients;
  std::printf("%-8.*s %4d of %-4d %10.0f %10.0f %12.2f %10.2f\n", static_cast<int>(strategy.size()),
              strategy.data(), summary.agreeing, summary.rows, calls.reference, calls.simulated,
              time.reference / 1000, time.simulated / 1000);
}

int simulate(const std::string& file) {
  std::ofstream csv{file};
  csv << "strategy,clients,calls,calls simulated,calls se,time,time simulated,time se,agrees\n";
  std::printf("%-8s %12s %21s %23s\n", "", "rows that", "calls, 100 clients", "seconds, 100 clients");
  std::printf("%-8s %12s %10s %10s %12s %10s\n", "strategy", "agree", "reference", "simulated", "reference",
              "simulated");
  const auto rows = encore_tests::rows_of("aws_backoff.csv");
  bool all_agree = true;
  for (const auto strategy : {"none", "expo", "full", "equal", "decorr"}) {
    Summary summary;
    for (const auto& row : rows) {
      if (row.text("strategy") != strategy) continue;
      const auto compared = simulation::compare(row, trials, seed);
      const auto& [calls, time] = compared;
      ++summary.rows;
      summary.agreeing += agrees(compared) ? 1 : 0;
      if (row.whole("clients") == 100) summary.at_100_clients = compared;
      csv << strategy << ',' << row.text("clients") << ',' << calls.reference << ',' << calls.simulated << ','
          << calls.standard_error << ',' << time.reference << ',' << time.simulated << ','
          << time.standard_error << ',' << (agrees(compared) ? "yes" : "no") << '\n';
    }
    print(strategy, summary);
    all_agree = all_agree && summary.rows == 24 && summary.agreeing == summary.rows;
  }
  const auto own = simulation::contend("decorrelated", 100, trials, seed);
  std::printf("%-8s %12s %10s %10.0f %12s %10.2f   the library's decorrelated jitter\n", "", "", "",
              own.writes.mean(), "", own.milliseconds.mean() / 1000);
  if (!csv.flush()) throw std::runtime_error{file + " cannot be written"};
  return all_agree ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: simulate <file for the rows, csv>\n", stderr);
    return 2;
  }
  try {
    return simulate(words[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
    return 2;
  }
}

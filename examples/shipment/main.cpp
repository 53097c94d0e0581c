// An agent orders shipments from a carrier that may lose the connection after it has committed one. A tool whose requests carry
// an idempotency key is retried, and the carrier knows the retry again. A tool without one is not: whether it had its effect is
// unknown, and the host finds out. At the end the carrier's ledger has every order once, or this program ends with 1.
#include "../command_line.hpp"
#include "../database.hpp"
#include "../event_file.hpp"
#include "books.hpp"
#include "carrier.hpp"
#include "shipping.hpp"
#include <encore/agent/tool_catalog.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/encore.hpp>
#include <encore/testing/fault_injector.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using encore::testing::Fault;

namespace {

constexpr auto usage =
    "usage: shipment [--log FILE] [--repeat-anyway]\n"
    "  --log FILE       write each event as one line of JSON\n"
    "  --repeat-anyway  declare the tool without a key as repeatable: the ledger shows what comes of that\n";

struct Options {
  std::optional<std::string> log{};
  encore::ReplaySafety without_key = encore::ReplaySafety::never;
};

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word{words[i]};
    if (word == "--log" && i + 1 < count)
      options.log = words[++i];
    else if (word == "--repeat-anyway")
      options.without_key = encore::ReplaySafety::repeatable;
    else
      throw UsageError{fmt::format("{} is no option, or needs a file", word)};
  }
  return options;
}

constexpr int max_attempts = 3;
const encore::RetryPolicy ship_policy{
    encore::RetryOn<ConnectionDropped>{},
    encore::MaxAttempts{max_attempts},
    encore::ExponentialBackoff{.initial_delay = 1ms, .factor = 2.0, .max_delay = 4ms},
};

/// Two tools for the same work. Their arguments are an order's number.
encore::ToolCatalog tools(const Shipping& shipping, EventFile& log, encore::ReplaySafety without_key) {
  encore::ToolCatalog catalog;
  const auto policy = ship_policy.with(log);
  catalog.add("ship", encore::ReplaySafety::repeatable_with_key, policy,
              [&](const std::string& order, const encore::Attempt& attempt) {
                return shipping.ship(order, Key::sent, attempt);
              });
  catalog.add("ship_without_key", without_key, policy,
              [&](const std::string& order, const encore::Attempt& attempt) {
                return shipping.ship(order, Key::none, attempt);
              });
  return catalog;
}

/// A ledger's file, removed at the end.
class LedgerFile {
 public:
  explicit LedgerFile(std::string_view name)
      : path_{std::filesystem::temp_directory_path() /
              fmt::format("encore_shipment_{}_{}.sqlite", getpid(), name)} {}
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;
  ~LedgerFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// ---- one order each way --------------------------------------------------------------------------------------------

void show_one_order_each_way(const Options& options, EventFile& log) {
  const LedgerFile file{"first"};
  const Carrier carrier{file.path(), [](const std::string&, int request) {
                          return request == 1 ? Fault::Kind::lost_result : Fault::Kind::none;
                        }};
  const Shipping shipping{carrier.port()};
  const auto catalog = tools(shipping, log, options.without_key);
  Books books;
  encore::ToolRun run{catalog, to_be_reconciled(books)};
  Database auditor{file.path()};

  fmt::print("THE CARRIER COMMITS, THEN THE CONNECTION DROPS\n");
  for (const encore::ToolCall& call : {
           encore::ToolCall{.id = "call-a", .name = "ship_without_key", .arguments = "A"},
           encore::ToolCall{.id = "call-b", .name = "ship", .arguments = "B"},
       }) {
    const auto answer = make(run, books, call);
    fmt::print("{} {}(\"{}\")\n", call.id, call.name, call.arguments);
    for (const auto& row :
         auditor.run("select fate from requests where order_id = ? order by number", call.arguments))
      fmt::print("  carrier: {}\n", row.at(0));
    for (const auto& row :
         auditor.run("select 'S-' || number from shipments where order_id = ?", call.arguments))
      fmt::print("  ledger:  {}\n", row.at(0));
    fmt::print("  model:   {}\n", answer.content);
  }
  for (const auto& lost : run.unknown_outcomes().all()) fmt::print("to reconcile: {}, ", lost.call_id);
  const auto done = reconcile(run, books, shipping);
  fmt::print("{} had shipped, {} ordered again\n", done.had_shipped, done.ordered_again);
}

// ---- a thousand orders ---------------------------------------------------------------------------------------------

constexpr int thousand = 1'000;
const encore::testing::FaultInjector faults{encore::Seed{7},
                                            {.failure_share = 0.1, .lost_result_share = 0.3}};

bool has_key(int order) { return order % 2 == 0; }

/// What has to come of an order by the carrier's plan alone: how many requests, and whether the last answer is lost.
struct Foreseen {
  int requests = 0;
  bool unknown = true;
};
Foreseen foresee(int order) {
  Foreseen foreseen;
  while (foreseen.unknown && foreseen.requests < (has_key(order) ? max_attempts : 1))
    foreseen.unknown =
        faults.fault(fmt::format("O-{}", order), ++foreseen.requests).kind != Fault::Kind::none;
  return foreseen;
}

bool print_point(bool holds, std::string_view point) {
  fmt::print("  {:<4} {}\n", holds ? "yes" : "NO", point);
  return holds;
}

/// Before anything is reconciled: nobody asked more often than the lost answers call for, and the list is complete.
bool requests_and_list_are_as_foreseen(Database& auditor, const encore::UnknownOutcomes& listed) {
  auto requests_agree = true;
  std::set<std::string> foreseen_unknown;
  for (int order = 1; order <= thousand; ++order) {
    const auto foreseen = foresee(order);
    if (foreseen.unknown) foreseen_unknown.insert(fmt::format("call-{}", order));
    const auto made =
        auditor.run("select count(*) from requests where order_id = ?", fmt::format("O-{}", order));
    requests_agree = requests_agree && made.at(0).at(0) == std::to_string(foreseen.requests);
  }
  std::set<std::string> ids;
  for (const auto& lost : listed.all()) ids.insert(lost.call_id);
  const auto none_twice = ids.size() == listed.all().size();
  auto agree =
      print_point(requests_agree, "each call sent as many requests as its lost answers and its key call for");
  agree &= print_point(none_twice && ids == foreseen_unknown,
                       "each call whose last answer was lost is listed once, and no other");
  return agree;
}

/// At the end: every order is in the ledger once, under the number that the agent knows.
bool ledger_and_results_are_equal(Database& auditor, const Books& books) {
  std::map<std::string, std::string> ledger;
  int twice = 0;
  for (const auto& row :
       auditor.run("select order_id, min('S-' || number), count(*) from shipments group by order_id")) {
    ledger[row.at(0)] = row.at(1);
    if (row.at(2) != "1") ++twice;
  }
  const auto lost = thousand - static_cast<int>(ledger.size());
  return print_point(
      twice == 0 && lost == 0 && ledger == books.shipments,
      fmt::format("ledger and results are equal: {} orders shipped twice, {} lost", twice, lost));
}

void print_row(std::string_view what, std::string_view with_key, std::string_view without) {
  fmt::print("{:<40}{:>6}{:>18}\n", what, with_key, without);
}

bool show_a_thousand_orders(const Options& options, EventFile& log) {
  const LedgerFile file{"second"};
  const Carrier carrier{
      file.path(), [](const std::string& order, int request) { return faults.fault(order, request).kind; }};
  const Shipping shipping{carrier.port()};
  const auto catalog = tools(shipping, log, options.without_key);
  Books books;
  encore::ToolRun run{catalog, to_be_reconciled(books)};
  Database auditor{file.path()};

  for (int order = 1; order <= thousand; ++order)
    make(run, books,
         {.id = fmt::format("call-{}", order),
          .name = has_key(order) ? "ship" : "ship_without_key",
          .arguments = fmt::format("O-{}", order)});

  fmt::print("\nA THOUSAND ORDERS, FOUR ANSWERS OF TEN LOST AT RANDOM\n");
  print_row("", "ship", "ship_without_key");
  const auto requests = [&](const char* fate, int keyed) {
    return auditor
        .run("select count(*) from requests where fate like ? and (key <> '') = ?", std::string{fate},
             sqlite3_int64{keyed})
        .at(0)
        .at(0);
  };
  const auto row = [&](std::string_view what, const char* fate) {
    print_row(what, requests(fate, 1), requests(fate, 0));
  };
  row("requests", "%");
  row("  lost before anything was done", "dropped");
  row("  lost after the commit", "%, then dropped");
  row("  known again by their key", "recognised%");
  int unknown[2]{};
  for (const auto& lost : books.unknown) ++unknown[lost.call_name == "ship" ? 0 : 1];
  print_row("calls whose outcome is unknown", std::to_string(unknown[0]), std::to_string(unknown[1]));

  fmt::print("\n");
  auto agree = requests_and_list_are_as_foreseen(auditor, run.unknown_outcomes());
  const auto done = reconcile(run, books, shipping);
  fmt::print("  reconciled: {} had shipped, {} had not and were ordered again\n", done.had_shipped,
             done.ordered_again);
  agree &= ledger_and_results_are_equal(auditor, books);
  return agree;
}

int run(const Options& options) {
  EventFile log{options.log};
  show_one_order_each_way(options, log);
  const auto agree = show_a_thousand_orders(options, log);
  log.close();
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words) {
  return run_program("shipment", usage, [&] { return run(read_options(count, words)); });
}

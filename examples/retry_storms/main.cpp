// What four retry storms cost an agent, without encore and with it.
#include "../event_file.hpp"
#include "storms.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace {

std::string columns(const Bill& bill) {
  return fmt::format("{:>13}{:>10}{:>9}", bill.model_calls, bill.requests,
                     fmt::format("${}", to_string(bill.cost)));
}

std::string names(const std::vector<encore::StopReason>& reasons) {
  std::string text;
  for (const auto reason : reasons) text.append(text.empty() ? "" : ", ").append(to_string(reason));
  return text;
}

void print_table(EventFile& log) {
  fmt::print("{:<24}{:>32}{:>32}\n", "", "WITHOUT ENCORE", "WITH ENCORE");
  const std::string heading = fmt::format("{:>13}{:>10}{:>9}", "model calls", "requests", "cost");
  fmt::print("{:<24}{}{}   calls end by\n", "storm", heading, heading);
  for (const Storm& storm : storms()) {
    const auto with = storm.with([&](const encore::Event& event) { log(event); });
    fmt::print("{:<24}{}{}   {}\n", storm.name, columns(storm.without()), columns(with),
               names(storm.stopped_by));
  }
}

}  // namespace

int main(int count, char** words) {
  const auto has_log = count == 3 && std::string_view{words[1]} == "--log";
  if (count != 1 && !has_log) {
    fmt::print(stderr,
               "usage: retry_storms [--log FILE]\n  --log FILE  write each event as one line of JSON\n");
    return 2;
  }
  try {
    EventFile log{has_log ? std::optional<std::string>{words[2]} : std::nullopt};
    print_table(log);
    log.close();
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "retry_storms: {}\n", error.what());
    return 2;
  }
}

// Reads logs of calls and says what happened: in words on the terminal, and as a page with a picture. The logs may be encore's own
// or, with the names of their fields, anybody's; however long they are, the memory and the page stay small.
#include "attempts_over_time.hpp"
#include "lane_choice.hpp"
#include "options.hpp"
#include "page.hpp"
#include <encore/analysis/diagnosis.hpp>
#include <encore/analysis/diagnosis_text.hpp>
#include <encore/analysis/read_trace.hpp>
#include <encore/analysis/trace_assembler.hpp>
#include <encore/detail/quoted_text.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace {

/// A name of a file as it may stand in a message.
std::string shown(std::string_view name) {
  return encore::reads_plain(name) ? std::string{name} : encore::in_quotes(name);
}

/// The bytes of a log, with a line on stderr now and then while it is long.
class LogFile {
 public:
  explicit LogFile(const std::string& name) : name_{name == "-" ? "the standard input" : shown(name)} {
    if (name == "-") return;
    if (std::filesystem::is_directory(name)) fail(std::make_error_code(std::errc::is_a_directory));
    errno = 0;
    file_.open(name, std::ios::binary);
    if (!file_) fail({errno, std::generic_category()});
    in_ = &file_;
    std::error_code unknown;
    const auto size = std::filesystem::file_size(name, unknown);
    if (!unknown) size_ = size;
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// For read_trace.
  std::size_t operator()(char* to, std::size_t size) {
    errno = 0;
    in_->read(to, static_cast<std::streamsize>(size));
    if (in_->bad()) fail({errno, std::generic_category()});
    const auto count = static_cast<std::size_t>(in_->gcount());
    read_ += count;
    if (read_ / progress_each > (read_ - count) / progress_each) print_progress();
    return count;
  }

 private:
  static constexpr std::uintmax_t megabyte = 1'000'000;
  static constexpr auto progress_each = 64 * megabyte;

  [[noreturn]] void fail(std::error_code why) const {
    throw std::runtime_error{fmt::format("the log {} cannot be read: {}", name_, why.message())};
  }
  void print_progress() const {
    const auto of_all = size_ >= read_ ? fmt::format(" of {}", size_ / megabyte) : std::string{};
    fmt::print(stderr, "retry_report: {}{} MB of {} read\n", read_ / megabyte, of_all, name_);
  }

  std::string name_;
  std::ifstream file_;
  std::istream* in_ = &std::cin;
  std::uintmax_t size_ = 0;
  std::uintmax_t read_ = 0;
};

void write_page(const std::string& path, const std::string& html) {
  std::ofstream file{path, std::ios::binary};
  file << html;
  file.close();
  if (!file) throw std::runtime_error{fmt::format("--page {} cannot be written", shown(path))};
}

/// A page that takes the place of a log would lose it.
void check_page_is_no_log(const Options& options) {
  for (const auto& log : options.logs) {
    std::error_code absent;
    if (options.page && std::filesystem::equivalent(log, *options.page, absent))
      throw UsageError{fmt::format("--page {} is one of the logs", shown(*options.page))};
  }
}

int run(Options options) {
  if (options.help) {
    fmt::print("{}", usage);
    return EXIT_SUCCESS;
  }
  if (options.logs.empty()) options.logs.emplace_back(RETRY_REPORT_SAMPLE);
  check_page_is_no_log(options);

  encore::TraceReader reader{options.fields};
  encore::TraceAssembler calls;
  encore::Diagnosis diagnosis{{.max_attempts = options.max_attempts, .deadline = options.deadline}};
  LaneChoice lanes{options.lanes, options.max_attempts, options.deadline};
  AttemptsOverTime over_time;
  const auto use = [&](const encore::TracedCall& call) {
    diagnosis.add(call);
    lanes.add(call);
    over_time.add(call);
  };
  for (const auto& log : options.logs) {
    LogFile file{log};
    reader.begin_file(std::filesystem::path{log}.filename().string());
    encore::read_trace(reader, file, [&](const encore::EventRecord& record) { calls.add(record, use); });
  }
  calls.finish(use);
  diagnosis.finish();

  fmt::print("{}", diagnosis_text(diagnosis));
  const auto note_on_room = encore::evicted_text(calls.evicted_count(), calls.evicted_open_count());
  if (!note_on_room.empty()) fmt::print("\n{}\n", note_on_room);
  if (reader.skipped_count() > 0)
    fmt::print("\nLines that were not used: {} of {}\n{}", reader.skipped_count(), reader.lines(),
               skipped_text(reader));
  if (options.page)
    write_page(*options.page, page({.logs = options.logs,
                                    .reader = reader,
                                    .diagnosis = diagnosis,
                                    .lanes = lanes,
                                    .over_time = over_time,
                                    .note_on_room = note_on_room}));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  return run_program("retry_report", usage, [&] { return run(read_options(count, words)); });
}

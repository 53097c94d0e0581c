// Events as JSON Lines in a file, for the examples that have a --log.
#pragma once
#include <encore/observer.hpp>
#include <encore/telemetry/format.hpp>

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

/// An observer that writes each event as one line of JSON, if a file is named. For one thread.
class EventFile {
 public:
  explicit EventFile(const std::optional<std::string>& path) : path_{path.value_or("")} {
    if (path) file_.open(path_);
    check();
  }
  void operator()(const encore::Event& event) {
    if (file_.is_open()) file_ << fmt::format("{:j}\n", event);
  }
  /// Throws if a line could not be written.
  void close() {
    if (file_.is_open()) file_.close();
    check();
  }

 private:
  void check() const {
    if (!file_) throw std::runtime_error{fmt::format("the log {} cannot be written", path_)};
  }
  std::string path_;
  std::ofstream file_;
};

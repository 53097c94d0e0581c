// The script of a run: what the model asks for, and what the backend does with each request.
#pragma once
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// A tool call, as a model issues it.
struct ToolCall {
  std::string id;
  std::string name;
  std::string sku;
};

/// What the backend does with one request.
struct Answer {
  enum class Kind { units, status, timeout, drop };
  Kind kind = Kind::units;
  int number = 0;        ///< the units, or the status
  std::string header{};  ///< Retry-After or retry-after-ms, if there is one
  std::string wait{};    ///< and its value, word for word
};

/// As the backend's log words it: "200", "503, Retry-After: 1", "no answer", "cut off".
std::string to_string(const Answer& answer);

struct Script {
  std::vector<ToolCall> calls;
  std::map<std::string, std::vector<Answer>, std::less<>> answers;  ///< by SKU
};

/// Names the file, the line and the value that cannot be used.
struct ScriptError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Reads a script; script.txt beside this file tells the format. Throws `ScriptError`.
Script read_script(const std::filesystem::path& file);

#include "script.hpp"

#include <encore/detail/quoted_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

namespace {

using encore::in_quotes;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : file_{path.string()}, in_{path} {
    if (!in_) cannot_be_read();
  }

  Script read() {
    for (std::string line; std::getline(in_, line);) {
      ++line_;
      std::istringstream words{line.substr(0, line.find('#'))};
      std::vector<std::string> found;
      for (std::string word; words >> word;) found.push_back(word);
      if (!found.empty()) take(found);
    }
    if (in_.bad()) cannot_be_read();
    for (const auto& [call, line] : call_lines_) {
      if (!script_.answers.contains(call.sku))
        fail(line, fmt::format(
                       "nothing says how the backend answers for {}: add a line that begins with backend {}",
                       in_quotes(call.sku), call.sku));
      script_.calls.push_back(call);
    }
    if (script_.calls.empty()) throw ScriptError{fmt::format("{}: the model makes no call in it", file_)};
    return std::move(script_);
  }

 private:
  [[noreturn]] void cannot_be_read() const {
    throw ScriptError{fmt::format("the script {} cannot be read", in_quotes(file_))};
  }
  [[noreturn]] void fail(int line, const std::string& why) const {
    throw ScriptError{fmt::format("{}:{}: {}", file_, line, why)};
  }
  [[noreturn]] void fail(const std::string& why) const { fail(line_, why); }

  void take(const std::vector<std::string>& words) {
    if (words[0] == "call")
      take_call(words);
    else if (words[0] == "backend")
      take_backend(words);
    else
      fail(fmt::format("{} is no keyword: a line begins with call or with backend", in_quotes(words[0])));
  }

  void take_call(const std::vector<std::string>& words) {
    if (words.size() != 3) fail("a call has an id and a SKU, as in: call call-17 A-17");
    const ToolCall call{.id = name(words[1]), .name = "inventory_lookup", .sku = name(words[2])};
    for (const auto& [earlier, line] : call_lines_) {
      if (earlier.id == call.id)
        fail(fmt::format("{} is the id of the call in line {}", in_quotes(call.id), line));
    }
    call_lines_.push_back({call, line_});
  }

  void take_backend(const std::vector<std::string>& words) {
    if (words.size() < 3)
      fail("a backend line has a SKU and at least one answer, as in: backend A-17 timeout units=17");
    auto& answers = script_.answers[name(words[1])];
    if (!answers.empty()) fail(fmt::format("{} has a backend line already", in_quotes(words[1])));
    std::transform(words.begin() + 2, words.end(), std::back_inserter(answers),
                   [this](const std::string& word) { return answer(word); });
  }

  /// It goes into an URL and a header, so it is kept simple.
  std::string name(const std::string& word) const {
    constexpr std::string_view others{"-_."};
    const auto fits = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             others.find(c) != others.npos;
    };
    if (!std::all_of(word.begin(), word.end(), fits))
      fail(fmt::format("{} has other characters than letters, digits, '-', '_' and '.'", in_quotes(word)));
    return word;
  }

  Answer answer(std::string_view word) const {
    using enum Answer::Kind;
    if (word == "timeout") return {.kind = timeout};
    if (word == "drop") return {.kind = drop};
    constexpr std::string_view units_are{"units="};
    if (word.starts_with(units_are)) {
      const auto count = number(word.substr(units_are.size()));
      if (!count || *count < 0)
        fail(fmt::format("{} has no number of units, as in: units=17", in_quotes(word)));
      return {.kind = units, .number = *count};
    }
    const auto colon = std::min(word.find(':'), word.size());
    const auto code = number(word.substr(0, colon));
    if (!code)
      fail(
          fmt::format("{} is no answer: known are units=17, timeout, drop, and a status such as 404, "
                      "503:retry-after=1 or "
                      "503:retry-after-ms=80",
                      in_quotes(word)));
    if (*code < 400 || *code > 599)
      fail(fmt::format("{} is no status from 400 to 599", in_quotes(word.substr(0, colon))));
    Answer answer{.kind = status, .number = *code};
    if (colon < word.size()) add_header(answer, word.substr(colon + 1));
    return answer;
  }

  void add_header(Answer& answer, std::string_view text) const {
    const auto equals = std::min(text.find('='), text.size());
    const auto header = text.substr(0, equals);
    if (header != "retry-after" && header != "retry-after-ms")
      fail(fmt::format("{} is no header that the backend sends: known are retry-after and retry-after-ms",
                       in_quotes(header)));
    if (equals + 1 >= text.size())
      fail(fmt::format("{} has no value, as in: retry-after=1", in_quotes(text)));
    answer.header = header == "retry-after" ? "Retry-After" : header;
    answer.wait = text.substr(equals + 1);
  }

  std::string file_;
  std::ifstream in_;
  int line_ = 0;
  struct CallInLine {
    ToolCall call;
    int line;
  };
  std::vector<CallInLine> call_lines_;
  Script script_;
};

}  // namespace

std::string to_string(const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::timeout: return "no answer";
    case Answer::Kind::drop: return "200, then cut off";
    case Answer::Kind::units: return "200";
    case Answer::Kind::status: break;
  }
  return answer.header.empty() ? std::to_string(answer.number)
                               : fmt::format("{}, {}: {}", answer.number, answer.header, answer.wait);
}

Script read_script(const std::filesystem::path& file) { return Reader{file}.read(); }

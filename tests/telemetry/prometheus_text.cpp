#include <encore/telemetry/prometheus_text.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using encore::CountersSnapshot;
using encore::StopReason;
using encore::ToolCounts;

/// A strict reader of Prometheus' text format 0.0.4, after its description in Prometheus' own documentation, "Exposition formats":
/// made for these tests alone, it throws at anything that is not allowed there.
class Page {
 public:
  using Labels = std::map<std::string, std::string>;

  explicit Page(std::string_view text) : rest_{text} {
    require(text.empty() || text.ends_with('\n'), "the last line must end in a line feed");
    while (!rest_.empty()) read_line();
  }
  const std::map<std::pair<std::string, Labels>, std::string>& samples() const { return samples_; }
  const std::string& sample(const std::string& name, const Labels& labels) const {
    return samples_.at({name, labels});
  }
  const std::set<std::string>& families() const { return families_; }

 private:
  static void require(bool holds, const char* otherwise) {
    if (!holds) throw std::runtime_error{otherwise};
  }
  bool took(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void take(std::string_view text) {
    require(rest_.starts_with(text), "something else was due");
    rest_.remove_prefix(text.size());
  }
  std::string name(bool of_metric) {
    std::size_t size = 0;
    const auto fits = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (of_metric && c == ':') ||
             (size > 0 && c >= '0' && c <= '9');
    };
    while (size < rest_.size() && fits(rest_[size])) ++size;
    require(size > 0, "a name is missing");
    std::string taken{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return taken;
  }
  std::string until_line_feed() {
    std::string taken{rest_.substr(0, rest_.find('\n'))};
    rest_.remove_prefix(taken.size());
    take("\n");
    return taken;
  }

  void read_line() {
    if (rest_.starts_with("# HELP ")) {
      take("# HELP ");
      helped_ = name(true);
      take(" ");
      require(!until_line_feed().empty(), "a help text is empty");
      require(!families_.contains(helped_), "a family comes twice");
    } else if (rest_.starts_with("# TYPE ")) {
      take("# TYPE ");
      family_ = name(true);
      require(family_ == helped_, "a type without its help before it");
      require(families_.insert(family_).second, "a type comes twice");
      take(" counter\n");
    } else {
      read_sample();
    }
  }
  void read_sample() {
    const auto metric = name(true);
    require(metric == family_, "a sample outside of its family");
    Labels labels;
    if (took('{')) {
      do {
        auto label = name(false);
        require(!label.starts_with("__"), "a label's name is reserved");
        take("=\"");
        require(labels.emplace(std::move(label), value_of_label()).second, "a label comes twice");
      } while (took(','));
      take("}");
    }
    take(" ");
    const auto value = until_line_feed();
    std::size_t used = 0;
    require(std::stod(value, &used) >= 0 && used == value.size(), "a value is no number");
    require(samples_.emplace(std::pair{metric, labels}, value).second, "a sample comes twice");
  }
  std::string value_of_label() {
    std::string text;
    while (!took('"')) {
      require(!rest_.empty() && rest_.front() != '\n', "a label's value does not end");
      if (took('\\')) {
        if (took('n'))
          text += '\n';
        else if (took('"'))
          text += '"';
        else
          take("\\"), text += '\\';
      } else {
        text += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    return text;
  }

  std::string_view rest_;
  std::string helped_;
  std::string family_;
  std::set<std::string> families_;
  std::map<std::pair<std::string, Labels>, std::string> samples_;
};

ToolCounts counts(std::string tool) {
  ToolCounts all{
      .tool = std::move(tool), .calls = 100, .attempts = 300, .retries = 200, .slept = 1'234'567'890'123ns};
  all.ended[static_cast<std::size_t>(StopReason::retries_exhausted)] = 100;
  return all;
}

TEST_CASE("a Prometheus page has a family for each metric and a sample for each tool", "[prometheus_text]") {
  const Page page{prometheus_text(CountersSnapshot{{counts("inventory_lookup"), counts("ship")}})};
  const Page::Labels tool{{"gen_ai_tool_name", "inventory_lookup"}};
  CHECK(page.families() ==
        std::set<std::string>{
            "encore_tool_calls_total", "encore_tool_attempts_total", "encore_tool_retries_total",
            "encore_tool_calls_recovered_total", "encore_tool_calls_exhausted_total",
            "encore_tool_calls_failed_at_once_total", "encore_tool_calls_error_results_total",
            "encore_tool_calls_outcomes_unknown_total", "encore_tool_attempts_dispatched_again_total",
            "encore_tool_calls_refused_total", "encore_tool_calls_ended_total",
            "encore_tool_slept_seconds_total"});
  CHECK(page.samples().size() == 2 * page.families().size());
  CHECK(page.sample("encore_tool_attempts_total", tool) == "300");
  CHECK(page.sample("encore_tool_calls_refused_total", tool) == "0");
  CHECK(page.sample("encore_tool_slept_seconds_total", tool) == "1234.567890123");
  CHECK(page.sample("encore_tool_calls_ended_total",
                    {{"gen_ai_tool_name", "ship"}, {"encore_reason", "retries_exhausted"}}) == "100");
}

TEST_CASE("a tool name with any bytes does not break the Prometheus page", "[prometheus_text]") {
  const std::string hostile = "a\\b\"c\nd} 17\nforged_total 1\n\xE6\x9D\xB1{,=}";
  const Page page{prometheus_text(CountersSnapshot{{counts(hostile), counts("")}})};
  CHECK(page.sample("encore_tool_calls_total", {{"gen_ai_tool_name", hostile}}) == "100");
  CHECK(page.sample("encore_tool_calls_total", {{"gen_ai_tool_name", ""}}) == "100");
  // What is no UTF-8 must not be sent.
  const Page replaced{prometheus_text(CountersSnapshot{{counts("a\xFF\xC3z")}})};
  CHECK(replaced.sample("encore_tool_calls_total", {{"gen_ai_tool_name", "a\xEF\xBF\xBD\xEF\xBF\xBDz"}}) ==
        "100");
}

TEST_CASE("large counts are written to the last digit on a Prometheus page", "[prometheus_text]") {
  ToolCounts many{.tool = "ship", .calls = 18'446'744'073'709'551'615U};
  const Page page{prometheus_text(CountersSnapshot{{many}})};
  CHECK(page.sample("encore_tool_calls_total", {{"gen_ai_tool_name", "ship"}}) == "18446744073709551615");
}

TEST_CASE("an empty Prometheus page is valid", "[prometheus_text]") {
  const Page page{encore::prometheus_text({})};
  CHECK(page.families().empty());
}

}  // namespace

#include <encore/analysis/read_trace.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using encore::EventRecord;
using encore::SkippedLine;
using encore::TraceReader;

/// Gives a text in pieces of so many bytes.
struct Pieces {
  std::string_view text;
  std::size_t size;
  std::size_t operator()(char* to, std::size_t most) {
    const auto count = std::min({size, most, text.size()});
    std::copy_n(text.data(), count, to);
    text.remove_prefix(count);
    return count;
  }
};
std::vector<std::string> ids_in(TraceReader& reader, std::string_view text, std::size_t piece) {
  std::vector<std::string> ids;
  read_trace(reader, Pieces{text, piece}, [&](const EventRecord& record) { ids.push_back(record.call_id); });
  return ids;
}
std::string line(std::string_view id) {
  return R"({"gen_ai.tool.call.id":")" + std::string{id} + R"(","encore.attempt":1})";
}

TEST_CASE("a log read in pieces of any size gives the same records", "[read_trace]") {
  const auto text = line("a") + "\n\nplain\r\n" + line("b") + "\r\n" + line("c").substr(0, 30);
  for (const std::size_t piece : {1U, 2U, 7U, 50U, 1'000U}) {
    CAPTURE(piece);
    TraceReader reader;
    CHECK(ids_in(reader, text, piece) == std::vector<std::string>{"a", "b"});
    CHECK(reader.lines() == 5);
    CHECK(reader.skipped() ==
          std::vector<SkippedLine>{{"", 3, "it is not a JSON object"}, {"", 5, "it ends too early"}});
  }
}

TEST_CASE("a log's last line may or may not end with a newline", "[read_trace]") {
  TraceReader reader;
  CHECK(ids_in(reader, line("a"), 10) == std::vector<std::string>{"a"});
  CHECK(ids_in(reader, line("b") + "\n", 10) == std::vector<std::string>{"b"});
  CHECK(ids_in(reader, "", 10).empty());
  CHECK(reader.lines() == 2);
}

TEST_CASE("a log line that is too long is skipped once, and the next is read", "[read_trace]") {
  const auto longest = encore::max_trace_line_size;
  for (const auto size : {longest, longest + 1, 3 * longest}) {
    for (const std::size_t piece : {1'000U, 65'536U}) {
      CAPTURE(size, piece);
      TraceReader reader;
      const auto text = line("a") + "\n" + std::string(size + 100'000, 'x') + "\n" + line("b") + "\n";
      CHECK(ids_in(reader, text, piece) == std::vector<std::string>{"a", "b"});
      CHECK(reader.skipped() == std::vector<SkippedLine>{{"", 2, "it is longer than 1048576 bytes"}});
      CHECK(reader.lines() == 3);
    }
  }
  // One without an end.
  TraceReader reader;
  CHECK(ids_in(reader, std::string(5 * longest, 'x'), 65'536).empty());
  CHECK(reader.skipped_count() == 1);
}

TEST_CASE("the longest log line is read and a longer one skipped, wherever the pieces end", "[read_trace]") {
  auto longest = line("a");
  const std::string_view around = R"("padding":"",)";
  longest.insert(1, R"("padding":")" +
                        std::string(encore::max_trace_line_size - longest.size() - around.size(), 'x') +
                        R"(",)");
  REQUIRE(longest.size() == encore::max_trace_line_size);
  auto longer = longest;
  longer.insert(longer.find('x'), "x");
  for (const std::size_t piece : {1'000U, 65'536U}) {
    for (const std::size_t first : {0U, 1U, 2U, 100U, 65'535U}) {
      CAPTURE(piece, first);
      const auto before = std::string(first, '\n');
      TraceReader reader;
      CHECK(ids_in(reader, before + longest + "\n" + longest, piece) == std::vector<std::string>{"a", "a"});
      CHECK(ids_in(reader, before + longer + "\n" + longest + "\n" + longer, piece) ==
            std::vector<std::string>{"a"});
      CHECK(reader.skipped_count() == 2);
    }
  }
}

TEST_CASE("an exception from a log's source propagates", "[read_trace]") {
  TraceReader reader;
  const auto broken = [](char*, std::size_t) -> std::size_t { throw std::runtime_error{"disk"}; };
  CHECK_THROWS_AS(read_trace(reader, broken, [](const EventRecord&) {}), std::runtime_error);
}

}  // namespace

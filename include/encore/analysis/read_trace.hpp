// Reads a whole log from any source of bytes, in bounded memory.
#pragma once
#include <encore/analysis/trace_reader.hpp>
#include <encore/telemetry/event_record.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace encore ENCORE_BUILD {

/// Longer lines are skipped, so that a log without line ends cannot exhaust the memory.
inline constexpr std::size_t max_trace_line_size = std::size_t{1} << 20;  // bytes

/// Reads to the end and passes each record to `use`. `read(to, size)` writes up to `size` bytes to `to` and returns their number;
/// 0 ends the log. Exceptions of `read` and `use` propagate. The last line need not end in a newline.
///   read_trace(reader, [&](char* to, std::size_t size) { return std::fread(to, 1, size, file); },
///              [&](const EventRecord& record) { diagnosis.add(record); });
template <class Read, std::invocable<const EventRecord&> Use>
  requires std::convertible_to<std::invoke_result_t<Read&, char*, std::size_t>, std::size_t>
void read_trace(TraceReader& reader, Read&& read, Use&& use) {
  constexpr std::size_t at_once = std::size_t{1} << 16;
  std::vector<char> bytes(at_once);
  std::size_t begin = 0;  // of the first line that has not been read
  std::size_t end = 0;
  auto too_long = false;  // the current line is being skipped
  const auto skip_long_line = [&] {
    if (too_long) return;
    reader.begin_line();
    reader.skip_line("it is longer than " + std::to_string(max_trace_line_size) + " bytes");
  };
  const auto take = [&](std::string_view line) {
    if (too_long || line.size() > max_trace_line_size) {
      skip_long_line();
      too_long = false;
      return;
    }
    if (const auto* const record = reader.read(line)) use(*record);
  };
  for (;;) {
    if (begin > 0) {
      std::memmove(bytes.data(), bytes.data() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    if (end > max_trace_line_size) {
      skip_long_line();
      too_long = true;
      end = 0;
    }
    if (bytes.size() - end < at_once) bytes.resize(end + at_once);
    const auto count = static_cast<std::size_t>(read(bytes.data() + end, at_once));
    if (count == 0) break;
    auto looked_at = end;
    end += count;
    while (const auto* const found =
               static_cast<const char*>(std::memchr(bytes.data() + looked_at, '\n', end - looked_at))) {
      const auto line_end = static_cast<std::size_t>(found - bytes.data());
      take({bytes.data() + begin, line_end - begin});
      begin = looked_at = line_end + 1;
      if (looked_at == end) break;
    }
  }
  if (end > begin) take({bytes.data() + begin, end - begin});
}

}  // namespace encore ENCORE_BUILD

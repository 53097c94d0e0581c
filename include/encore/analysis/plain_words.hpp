// Names, numbers and times as they stand in a sentence.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/duration.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

namespace detail {

inline std::string counted(std::uint64_t count, std::string_view noun) {
  auto text = std::to_string(count).append(1, ' ').append(noun);
  return count == 1 ? text : text.append(1, 's');
}
/// To three digits after the point: whoever reads has no use for more.
inline std::string short_seconds(Duration duration) {
  std::string text;
  append_seconds(text, duration > std::chrono::milliseconds{1}
                           ? std::chrono::floor<std::chrono::milliseconds>(duration)
                           : duration);
  return text.append(" s");
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD

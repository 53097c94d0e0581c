// What may be done again, in words: for descriptions of tools, saved calls and refusals.
#pragma once
#include <encore/call.hpp>

#include <iosfwd>
#include <string_view>

namespace encore {

constexpr std::string_view to_string(ReplaySafety safety) noexcept {
  switch (safety) {
    case ReplaySafety::repeatable: return "repeatable";
    case ReplaySafety::repeatable_with_key: return "repeatable_with_key";
    case ReplaySafety::never: return "never";
    case ReplaySafety::excluded: return "excluded";
  }
  return "never";
}
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, ReplaySafety safety) {
  return out << to_string(safety);
}

}  // namespace encore

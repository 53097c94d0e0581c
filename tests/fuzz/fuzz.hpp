// What the fuzz targets have in common.
//
// A target is `LLVMFuzzerTestOneInput`, and stops the program at the first answer that breaks a rule. As a test (with
// ENCORE_FUZZ_STANDALONE, any compiler) it runs over the texts in its own file and over the files that it is given: the
// kept inputs in corpus/<target>/. run.sh lets libFuzzer look for more.
#pragma once
#include "../terminal_text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

inline void require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

inline void feed(std::string_view input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}
/// Feeds the files that the program was given.
inline void feed_files(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file{arguments[i], std::ios::binary};
    require(file.is_open(), "a kept input can be read");
    feed(std::string{std::istreambuf_iterator<char>{file}, {}});
  }
}

}  // namespace fuzz

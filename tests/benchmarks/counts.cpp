// Counts allocations and rethrows of the whole process, the runtime library's among them: exceptions are allocated too.
#include "measure.hpp"

#include <dlfcn.h>

#include <cstddef>

namespace benchmarks {
namespace {
Counts counted;
}
Counts counts() noexcept { return counted; }
}  // namespace benchmarks

// The dynamic linker lets every library of the process come here first.
extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) {
  ++benchmarks::counted.allocations;
  return __libc_malloc(size);
}
[[noreturn]] void __cxa_rethrow() {
  ++benchmarks::counted.rethrows;
  static const auto rethrow = reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, "__cxa_rethrow"));
  rethrow();
  __builtin_unreachable();
}
}

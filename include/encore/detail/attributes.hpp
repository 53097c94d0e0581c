// Attributes for the optimiser and the linker, spelled for each compiler.
#pragma once

/// Follows `namespace encore` in each header whose code depends on exceptions or RTTI. Translation units built without one of them then
/// have separate entities, so a program may link all kinds in any order. Entities that are equal in each build are shared: calls,
/// attempts, clocks, the process's scope and counter, the current attempt. A header without this macro includes none with it. (L3)
#if defined(__cpp_exceptions) && defined(__cpp_rtti)
#define ENCORE_BUILD
#elif defined(__cpp_exceptions)
#define ENCORE_BUILD ::inline without_rtti
#elif defined(__cpp_rtti)
#define ENCORE_BUILD ::inline without_exceptions
#else
#define ENCORE_BUILD ::inline without_exceptions_and_rtti
#endif

#if defined(_MSC_VER) && !defined(__clang__)
/// Always inlined, so that the first attempt costs no more than a hand-written loop.
#define ENCORE_FORCE_INLINE [[msvc::forceinline]] inline
/// Never inlined: the code after a failure must not slow down a success.
#define ENCORE_COLD __declspec(noinline)
/// Never inlined, but optimised for speed: failures that are values may be frequent.
#define ENCORE_NO_INLINE __declspec(noinline)
/// One per process, even if shared libraries hide their symbols (L1); but with MSVC, each DLL has its own.
#define ENCORE_ONE_PER_PROCESS
#else
#if defined(__OPTIMIZE__)
#define ENCORE_FORCE_INLINE [[__gnu__::__always_inline__]] inline
#else  // a debug build is for stepping through, and for compiling fast
#define ENCORE_FORCE_INLINE inline
#endif
#define ENCORE_COLD [[__gnu__::__noinline__, __gnu__::__cold__]]
#define ENCORE_NO_INLINE [[__gnu__::__noinline__]]
/// One for a program and the shared libraries linked with it, even if they hide their symbols. (L1) A library loaded by `dlopen` shares
/// it if the program exports its symbols (`-rdynamic`, CMake's `ENABLE_EXPORTS`). Otherwise it has its own, shared with other such
/// libraries if they were compiled by GCC or loaded with `RTLD_GLOBAL`.
#define ENCORE_ONE_PER_PROCESS [[__gnu__::__visibility__("default")]]
#endif

/// Internal helpers that are equal in all builds. All are visible in `detail`.
namespace encore::shared {}
namespace encore ENCORE_BUILD::detail {
using namespace encore::shared;
}

namespace encore::shared {

/// Returns `object`, and computes its stack address here. Clang would otherwise do so before the first attempt, in a register that it
/// must save and restore: three instructions per call at -O1 to -O3. GCC computes it here anyway.
template <class T>
ENCORE_FORCE_INLINE T& found_here(T& object) noexcept {
#if defined(__clang__)
  auto first = 0UL;
  asm volatile("" : "+r"(first));  // hides the value from the optimiser
  return (&object)[first];
#else
  return object;
#endif
}

}  // namespace encore::shared

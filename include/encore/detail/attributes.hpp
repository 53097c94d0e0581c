// The compiler hints that the success path needs, and two for the linker, spelled once for all compilers.
#pragma once

/// Stands behind `namespace encore` in each header whose code depends on exceptions or run-time type information. Units built without
/// one or the other then have entities of their own: a program may link units of all kinds, in any order, and each behaves as it
/// was built. What is the same in each is shared: calls, attempts, clocks, the process's scope and counter, the mark of an attempt
/// under way. So no header without this word includes one with it. (L3)
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
/// Inlined even where the optimiser would rather not: the first attempt must cost what a hand-written loop costs.
#define ENCORE_FORCE_INLINE [[msvc::forceinline]] inline
/// Kept out of line: what happens after a failure must not weigh on the code around a success.
#define ENCORE_COLD __declspec(noinline)
/// Out of line too, but not for size: where failures are values, they may be frequent.
#define ENCORE_NO_INLINE __declspec(noinline)
/// One for the whole process, also where shared libraries hide their symbols. (L1) Not here: a DLL has its own.
#define ENCORE_ONE_PER_PROCESS
#else
#if defined(__OPTIMIZE__)
#define ENCORE_FORCE_INLINE [[__gnu__::__always_inline__]] inline
#else  // a debug build is for stepping through, and for compiling fast
#define ENCORE_FORCE_INLINE inline
#endif
#define ENCORE_COLD [[__gnu__::__noinline__, __gnu__::__cold__]]
#define ENCORE_NO_INLINE [[__gnu__::__noinline__]]
/// One for a program and the shared libraries that it is linked with, also where they hide their symbols. (L1) A library that is loaded
/// later, by `dlopen`, shares it where the program exports its symbols (`-rdynamic`, or CMake's `ENABLE_EXPORTS`); else it has its
/// own, in common with others like it if GCC compiled them, or if they are loaded with `RTLD_GLOBAL`.
#define ENCORE_ONE_PER_PROCESS [[__gnu__::__visibility__("default")]]
#endif

/// What is shared of the library's own tools. It is all found in `detail`.
namespace encore::shared {}
namespace encore ENCORE_BUILD::detail {
using namespace encore::shared;
}

namespace encore::shared {

/// `object`, whose place on the stack is worked out here. Clang would else do that before the first attempt, in a register that
/// is saved and restored for it: three instructions of each call, at -O1 to -O3. GCC does it where it stands anyway.
template <class T>
ENCORE_FORCE_INLINE T& found_here(T& object) noexcept {
#if defined(__clang__)
  auto first = 0UL;
  asm volatile("" : "+r"(first));  // from here on it might be any number, for all that is known before
  return (&object)[first];
#else
  return object;
#endif
}

}  // namespace encore::shared

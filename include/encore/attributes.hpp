// The compiler hints that the success path needs, and one for the linker, spelled once for all compilers.
#pragma once

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
/// One for the whole process, also where shared libraries hide their symbols. (L1)
#define ENCORE_ONE_PER_PROCESS [[__gnu__::__visibility__("default")]]
#endif

namespace encore::detail {

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

}  // namespace encore::detail

// A thread's cancellation, put off while a failed attempt is looked at.
#pragma once
#include <encore/detail/attributes.hpp>

#include <exception>

#if defined(__GLIBC__) && defined(__cpp_exceptions)
#include <pthread.h>
#endif

namespace encore ENCORE_BUILD::detail {

/// While it exists its thread is not cancelled. A cancelled thread unwinds by an exception of no type, and where that meets a
/// `catch (...)` while another exception is being handled, the process ends (Itanium C++ ABI: it cannot be put above the other).
/// Observers, predicates and hints are asked in the handler of the failed attempt's exception. (B4)
class DeferredCancellation {
 public:
#if defined(__GLIBC__) && defined(__cpp_exceptions)
  DeferredCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~DeferredCancellation() {
    int ignored = 0;
    pthread_setcancelstate(before_, &ignored);
  }
  /// A point at which a cancellation that was put off takes effect.
  static void let_through() { pthread_testcancel(); }
#else  // no thread unwinds when it is cancelled, as far as is known
  DeferredCancellation() noexcept {}
  static void let_through() noexcept {}
#endif
  DeferredCancellation(const DeferredCancellation&) = delete;
  DeferredCancellation& operator=(const DeferredCancellation&) = delete;

 private:
#if defined(__GLIBC__) && defined(__cpp_exceptions)
  int before_ = PTHREAD_CANCEL_ENABLE;
#endif
};

/// Runs a step of the users' code in a handler. A cancellation that it meets takes effect when it has returned.
template <class Step>
ENCORE_FORCE_INLINE void deferring_cancellation(Step&& step) {
  {
    [[maybe_unused]] const DeferredCancellation deferred;
    step();
  }
  DeferredCancellation::let_through();
}

}  // namespace ENCORE_BUILD::detail

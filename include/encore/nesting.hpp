// Policies inside policies: two layers that retry multiply, so the inner one can notice and give way.
#pragma once
#include <encore/call.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/ingredient.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace encore {

/// What a policy does when it runs inside an attempt of another. (J1)
enum class Nested : std::uint8_t {
  allow,
  report,  ///< its events name the outer attempt
  make_single,  ///< and it makes one attempt only, whose failure leaves unaltered, so that the outer policy sees it
};

/// Makes a policy notice that it runs inside another's attempt, and marks its own attempts so that others notice it.
/// The mark belongs to the thread, for as long as the attempt runs; on another thread, or in a coroutine, it travels as
/// `Call::outer`. It is read only when an attempt has failed. An attempt that ends on another thread than it began on stops a
/// program that is built without NDEBUG: see `OnFibers`. (J1, J2, J3)
struct WhenNested {
  using role = encore::role::Nesting;
  Nested choice = Nested::report;
};
struct NestingUnnoticed {
  using role = encore::role::Nesting;
};

/// Says that the callables may switch stacks, or end on another thread: they run on fibers (Boost.Fiber, folly, bthreads), say.
/// Then no thread is marked, and whatever runs inside an attempt is told of it by `Call::outer` alone. Given to a policy, a
/// `ToolRetry`, or a `ToolCatalog` for all of its tools. (J2, J3)
struct OnFibers {
  using role = encore::role::Fibers;
  bool on = true;
};
struct OnThreads {
  using role = encore::role::Fibers;
};

namespace shared {

class AttemptMark;
/// The marks of this thread, the innermost first. (L1)
ENCORE_ONE_PER_PROCESS inline constinit thread_local AttemptMark* innermost_mark = nullptr;

/// Marks an attempt for the time of one block, on whichever stack that lies: marks of fibers that take turns on a thread end
/// in any order, and each takes only itself off the list. (J3)
class AttemptMark {
 public:
  /// Null hides the marks below it.
  explicit AttemptMark(const Attempt* attempt) noexcept
      : attempt_{attempt},
        below_{innermost_mark},
        place_{&innermost_mark} {
    if (below_ != nullptr) below_->place_ = &below_;
    innermost_mark = this;
  }
  AttemptMark(const AttemptMark&) = delete;
  AttemptMark& operator=(const AttemptMark&) = delete;
  ~AttemptMark() {
#if !defined(NDEBUG)
    expect_same_thread();
#endif
    *place_ = below_;
    if (below_ != nullptr) below_->place_ = place_;
  }
  const Attempt* attempt() const noexcept { return attempt_; }

 private:
  // Out of line, and opaque: a compiler takes a function for one that never changes its thread, and would not look again where
  // that thread's variables lie.
  ENCORE_NO_INLINE void expect_same_thread() const noexcept {
#if defined(__GNUC__)
    asm volatile("" ::: "memory");
#endif
    for (const auto* mark = innermost_mark; mark != nullptr; mark = mark->below_)
      if (mark == this) return;
    std::fputs(
        "encore: an attempt ended on another thread than it began on, and leaves its mark there: give its "
        "policy, or its tools' catalog, OnFibers{}\n",
        stderr);
    std::abort();
  }

  const Attempt* attempt_;
  AttemptMark* below_;
  AttemptMark** place_;  // what points to this mark
};

/// The attempt under way on this thread, of the innermost policy that marks its attempts.
inline const Attempt* marked_attempt() noexcept {
  return innermost_mark != nullptr ? innermost_mark->attempt() : nullptr;
}

/// Marks an attempt unless it is on a fiber.
class MarkOnThreads {
 public:
  MarkOnThreads(bool on_fibers, const Attempt* attempt) noexcept : marks_{!on_fibers} {
    if (marks_) ::new (static_cast<void*>(&mark_)) AttemptMark{attempt};
  }
  MarkOnThreads(const MarkOnThreads&) = delete;
  MarkOnThreads& operator=(const MarkOnThreads&) = delete;
  ~MarkOnThreads() {
    if (marks_) mark_.~AttemptMark();
  }

 private:
  bool marks_;
  union {
    AttemptMark mark_;
  };
};

/// Stands where a policy marks nothing.
struct NoMark {};

}  // namespace shared

}  // namespace encore

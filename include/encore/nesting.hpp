// Policies inside policies: two layers that retry multiply, so the inner one can notice and give way.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/engine/nested.hpp>
#include <encore/option.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace encore {

namespace shared {

/// The attempt under way on this thread, of the innermost policy that marks its attempts.
inline const Attempt* marked_attempt() noexcept {
  return innermost_mark != nullptr ? innermost_mark->attempt : nullptr;
}

/// Marks an attempt for the time of one block, on whichever stack that lies: marks of fibers that take turns on a thread end
/// in any order, and each takes only itself off the list. (J3)
class AttemptMark : public MarkedAttempt {
 public:
  /// Null hides the marks below it.
  explicit AttemptMark(const Attempt* its_attempt) noexcept
      : MarkedAttempt{its_attempt},
        below_{innermost_mark},
        place_{&innermost_mark} {
    if (below_ != nullptr) of(below_).place_ = &below_;
    innermost_mark = this;
  }
  AttemptMark(const AttemptMark&) = delete;
  AttemptMark& operator=(const AttemptMark&) = delete;
  ~AttemptMark() {
#if !defined(NDEBUG)
    expect_same_thread();
#endif
    *place_ = below_;
    if (below_ != nullptr) of(below_).place_ = place_;
  }

  /// The attempt around a call: the one that the call names, else the one marked on this thread, unless it runs on fibers.
  static const Attempt* around(const Attempt* named, bool on_fibers) noexcept {
    return named != nullptr || on_fibers ? named : marked_attempt();
  }

 private:
  static AttemptMark& of(MarkedAttempt* mark) noexcept { return *static_cast<AttemptMark*>(mark); }
  // Out of line, and opaque: a compiler takes a function for one that never changes its thread, and would not look again where
  // that thread's variables lie.
  ENCORE_NO_INLINE void expect_same_thread() const noexcept {
#if defined(__GNUC__)
    asm volatile("" ::: "memory");
#endif
    for (auto* mark = innermost_mark; mark != nullptr; mark = of(mark).below_)
      if (mark == this) return;
    std::fputs(
        "encore: an attempt ended on another thread than it began on, and leaves its mark there: give its "
        "policy, or its tools' catalog, OnFibers{}\n",
        stderr);
    std::abort();
  }

  MarkedAttempt* below_;
  MarkedAttempt** place_;  // what points to this mark
};

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

}  // namespace shared

/// Makes a policy notice that it runs inside another's attempt, and marks its own attempts so that others notice it.
/// The mark belongs to the thread, for as long as the attempt runs; on another thread, or in a coroutine, it travels as
/// `Call::outer`. It is read only when an attempt has failed. An attempt that ends on another thread than it began on stops a
/// program that is built without NDEBUG: see `OnFibers`. (J1, J2, J3)
struct WhenNested {
  using role = encore::role::Nesting;
  using Mark = shared::AttemptMark;
  Nested choice = Nested::report;
};

/// Says that the callables may switch stacks, or end on another thread: they run on fibers (Boost.Fiber, folly, bthreads), say.
/// Then no thread is marked, and whatever runs inside an attempt is told of it by `Call::outer` alone. Given to a policy, a
/// `ToolRetry`, or a `ToolCatalog` for all of its tools. (J2, J3)
struct OnFibers {
  using role = encore::role::Fibers;
  using Mark = shared::MarkOnThreads;
  bool on = true;
};

}  // namespace encore

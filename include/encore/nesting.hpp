// Policies inside policies: retries on two layers multiply, so the inner policy can detect the outer one and not retry.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/engine/nested.hpp>
#include <encore/option.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace encore {

namespace shared {

/// The current attempt on this thread, of the innermost policy that marks its attempts.
inline const Attempt* marked_attempt() noexcept {
  return innermost_mark != nullptr ? innermost_mark->attempt : nullptr;
}

/// Marks an attempt for the duration of a block. On fibers that share a thread, blocks end in any order, so each mark unlinks
/// only itself. (J3)
class AttemptMark : public MarkedAttempt {
 public:
  /// Null hides the outer marks.
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

  /// The attempt around a call: the one the call names, else the one marked on this thread, unless the call runs on fibers.
  static const Attempt* around(const Attempt* named, bool on_fibers) noexcept {
    return named != nullptr || on_fibers ? named : marked_attempt();
  }

 private:
  static AttemptMark& of(MarkedAttempt* mark) noexcept { return *static_cast<AttemptMark*>(mark); }
  // Not inlined and opaque: compilers assume that a function stays on its thread, and would reuse the address of that thread's
  // variables.
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

/// Marks an attempt unless callables run on fibers.
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

/// Makes a policy detect that it runs inside another policy's attempt, and mark its own attempts for others to detect.
/// The mark belongs to the thread, while the attempt runs; for calls on another thread or in a coroutine, set `Call::outer`.
/// It is read only after an attempt has failed. If an attempt ends on another thread than it began on, a program built without
/// NDEBUG aborts: see `OnFibers`. (J1, J2, J3)
struct WhenNested {
  using role = encore::role::Nesting;
  using Mark = shared::AttemptMark;
  Nested choice = Nested::report;
};

/// Declares that callables may switch stacks or end on another thread, for example on fibers (Boost.Fiber, folly, bthreads).
/// Then threads are not marked, and calls inside an attempt are connected to it by `Call::outer` only. Pass it to a policy, a
/// `ToolRetry`, or a `ToolCatalog` for all of its tools. (J2, J3)
struct OnFibers {
  using role = encore::role::Fibers;
  using Mark = shared::MarkOnThreads;
  bool on = true;
};

}  // namespace encore

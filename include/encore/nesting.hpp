// Policies inside policies: two layers that retry multiply, so the inner one can notice and give way.
#pragma once
#include <encore/attributes.hpp>
#include <encore/call.hpp>
#include <encore/ingredient.hpp>

#include <cstdint>

namespace encore {

/// What a policy does when it runs inside an attempt of another. (J1)
enum class Nested : std::uint8_t {
  allow,
  report,  ///< its events name the outer attempt
  make_single,  ///< and it makes one attempt only, whose failure leaves unaltered, so that the outer policy sees it
};

/// Makes a policy notice that it runs inside another's attempt, and marks its own attempts so that others notice it.
/// The mark belongs to the thread; on another thread, or in a coroutine, it travels as `Call::outer`. It is read only when
/// an attempt has failed. (J1, J2)
struct WhenNested {
  using role = encore::role::Nesting;
  Nested choice = Nested::report;
};
struct NestingUnnoticed {
  using role = encore::role::Nesting;
};

namespace detail {

/// The attempt under way on this thread, of the innermost policy that marks its attempts. (L1)
ENCORE_ONE_PER_PROCESS inline constinit thread_local const Attempt* marked_attempt = nullptr;

/// Marks an attempt for the time of one block.
class AttemptMark {
 public:
  explicit AttemptMark(const Attempt& attempt) noexcept : before_{marked_attempt} {
    marked_attempt = &attempt;
  }
  AttemptMark(const AttemptMark&) = delete;
  AttemptMark& operator=(const AttemptMark&) = delete;
  ~AttemptMark() { marked_attempt = before_; }

 private:
  const Attempt* before_;
};

/// Stands where a policy marks nothing.
struct NoMark {
  NoMark() = default;
  explicit NoMark(const Attempt&) noexcept {}
};

}  // namespace detail

}  // namespace encore

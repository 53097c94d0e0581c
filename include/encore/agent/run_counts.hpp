// Counts of a run, and of the thread of conversation it belongs to, and their limits.
#pragma once
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/saved_state.hpp>
#include <encore/setting.hpp>
#include <encore/unretryable.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// What happens when a count exceeds its limit. LangChain's name is in brackets. (H5)
enum class OnLimit : std::uint8_t {
  answer_calls,     ///< each call over the limit gets an error result, the others run (`continue`)
  throw_exception,  ///< `CallLimitExceeded` is thrown: no call of the batch runs, and none is counted (`error`)
  end_run,          ///< no call of the batch runs, each gets an error result, and the run is over (`end`)
};

/// A run's count starts at 0 with each run; its thread's continues through all of its runs.
struct RunCounts {
  std::int64_t thread = 0;
  std::int64_t run = 0;
  friend constexpr bool operator==(const RunCounts&, const RunCounts&) noexcept = default;
};

using ThreadLimit = std::optional<Count<"thread_limit">>;
using RunLimit = std::optional<Count<"run_limit">>;

namespace detail {

// Not constexpr on purpose, as in setting.hpp.
[[noreturn]] inline void neither_thread_limit_nor_run_limit_is_set() {
  refuse_setting("thread_limit and run_limit", "none", "is invalid: at least one of them must be set");
}
[[noreturn]] inline void the_run_limit_exceeds_the_thread_limit(int run_limit, int thread_limit) {
  refuse_setting("run_limit", std::to_string(run_limit),
                 "is invalid: it must not exceed thread_limit = " + std::to_string(thread_limit));
}
[[noreturn]] inline void the_on_limit_is_not_allowed(OnLimit on_limit, std::string_view allowed) {
  refuse_setting("on_limit", std::to_string(static_cast<int>(on_limit)),
                 "is invalid: it must be " + std::string{allowed});
}

/// Rejects limits that make no sense together: none at all, or a run's limit above its thread's. As the last member of an
/// aggregate it sees the fields before it. (C3)
struct LimitsAgree {
  constexpr LimitsAgree(const ThreadLimit& thread_limit, const RunLimit& run_limit) {
    if (!thread_limit && !run_limit) neither_thread_limit_nor_run_limit_is_set();
    if (thread_limit && run_limit && *run_limit > *thread_limit)
      the_run_limit_exceeds_the_thread_limit(*run_limit, *thread_limit);
  }
};

constexpr bool is_over(const RunCounts& counts, const ThreadLimit& thread_limit,
                       const RunLimit& run_limit) noexcept {
  return (thread_limit && counts.thread > *thread_limit) || (run_limit && counts.run > *run_limit);
}

/// The limits that these counts exceed, as `count/limit`: "thread 4/3, run 3/2".
inline std::string limits_exceeded(const RunCounts& counts, const ThreadLimit& thread_limit,
                                   const RunLimit& run_limit) {
  std::string text;
  const auto add = [&](std::string_view which, std::int64_t count, std::int64_t limit) {
    if (count <= limit) return;
    if (!text.empty()) text += ", ";
    text.append(which)
        .append(1, ' ')
        .append(std::to_string(count))
        .append(1, '/')
        .append(std::to_string(limit));
  };
  if (thread_limit) add("thread", counts.thread, *thread_limit);
  if (run_limit) add("run", counts.run, *run_limit);
  return text;
}

}  // namespace detail

/// Thrown by a limit with `OnLimit::throw_exception`. Its counts are those that were refused; they are not stored. No policy
/// retries it. (B4, H5)
class CallLimitExceeded : public Unretryable {
 public:
  CallLimitExceeded(const std::string& message, RunCounts counts, ThreadLimit thread_limit,
                    RunLimit run_limit)
      : Unretryable{"encore: " + message},
        counts_{counts},
        thread_limit_{thread_limit},
        run_limit_{run_limit} {}
  std::int64_t thread_count() const noexcept { return counts_.thread; }
  std::int64_t run_count() const noexcept { return counts_.run; }
  const ThreadLimit& thread_limit() const noexcept { return thread_limit_; }
  const RunLimit& run_limit() const noexcept { return run_limit_; }

 private:
  RunCounts counts_;
  ThreadLimit thread_limit_;
  RunLimit run_limit_;
};

namespace detail {

/// Throws it; without exceptions its text goes to stderr and the program aborts. (L3)
[[noreturn]] inline void throw_call_limit_exceeded(const std::string& message, RunCounts counts,
                                                   ThreadLimit thread_limit, RunLimit run_limit) {
  CallLimitExceeded exceeded{message, counts, thread_limit, run_limit};
#if defined(__cpp_exceptions)
  throw exceeded;
#else
  std::fprintf(stderr, "%s\n", exceeded.what());
  std::abort();
#endif
}

}  // namespace detail

}  // namespace encore ENCORE_BUILD

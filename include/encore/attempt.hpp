// One attempt of a call, as the callable sees it.
#pragma once
#include <encore/call.hpp>
#include <encore/clock.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/detail/hexadecimal.hpp>
#include <encore/duration.hpp>
#include <encore/engine/nested.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace encore {

namespace shared {

/// A text of at most `Room` bytes, stored without allocating. Longer text is cut.
template <std::size_t Room>
class ShortText {
 public:
  constexpr std::string_view view() const noexcept { return {text_, std::size_t{length_}}; }
  constexpr void assign(std::string_view text) noexcept {
    const auto length = shared::smaller_of(text.size(), std::size_t{Room});
    for (std::size_t i = 0; i < length; ++i) text_[i] = text[i];
    length_ = static_cast<std::uint8_t>(length);
  }
  constexpr void clear() noexcept { length_ = 0; }

 private:
  std::uint8_t length_ = 0;
  char text_[Room];  // the first `length_` bytes are written
};

}  // namespace shared

/// What the callable noted about its attempt, for events and replay safety. Of bounded size; allocates nothing. (F6, I3)
class AttemptNotes {
 public:
  static constexpr std::size_t max_request_id = 64;
  static constexpr std::size_t max_error_code = 48;

  /// The response's status, if one was noted.
  constexpr std::optional<int> status() const noexcept {
    return has_status_ ? std::optional<int>{status_} : std::nullopt;
  }
  /// The dependency's own id for the request, cut at `max_request_id` bytes; empty if none was noted.
  constexpr std::string_view request_id() const noexcept { return request_id_.view(); }
  /// The dependency's code for what went wrong, cut at `max_error_code` bytes; empty if none was noted.
  constexpr std::string_view error_code() const noexcept { return error_code_.view(); }
  /// A request was sent.
  constexpr bool dispatched() const noexcept { return dispatched_; }
  /// The service that does the work answered the latest request.
  constexpr bool answered() const noexcept { return latest_ == Request::answered; }
  /// None of the attempt's requests was executed. (I1)
  constexpr bool not_run() const noexcept {
    return latest_ == Request::not_run && !something_answered_ && !lost_;
  }
  /// A request was sent while the previous one had no answer: a lower layer repeats requests by itself. (I3, J1)
  constexpr bool dispatched_again() const noexcept { return dispatched_again_; }
  constexpr bool key_used() const noexcept { return key_used_; }
  /// The callable returned a value that reports a failure. (B8)
  constexpr bool error_result() const noexcept { return error_result_; }
  /// A request was sent, and was neither answered nor marked as not run. (I3)
  constexpr bool outcome_unknown() const noexcept { return latest_ == Request::dispatched || lost_; }

  constexpr void clear() noexcept {
    latest_ = Request::none;
    has_status_ = dispatched_ = dispatched_again_ = lost_ = something_answered_ = key_used_ = error_result_ =
        false;
    request_id_.clear();
    error_code_.clear();
  }

 private:
  friend class Attempt;
  enum class Request : std::uint8_t { none, dispatched, answered, not_run };

  int status_ = 0;
  Request latest_ = Request::none;
  bool has_status_ = false;
  bool dispatched_ = false;
  bool dispatched_again_ = false;
  bool lost_ = false;                // an earlier request was never answered, and no later one since
  bool something_answered_ = false;  // any request of this attempt
  bool key_used_ = false;
  bool error_result_ = false;
  shared::ShortText<max_request_id> request_id_;
  shared::ShortText<max_error_code> error_code_;
};

namespace shared {

/// The outcome of a call's attempts so far: once unknown, it stays unknown until a later attempt is answered. An attempt that
/// did not run changes nothing. (I3)
struct OutcomeSoFar {
  bool unknown = false;
  ShortText<AttemptNotes::max_request_id> request_id;  // of the latest unanswered request

  ENCORE_COLD void add(const AttemptNotes& notes) noexcept {
    if (notes.outcome_unknown()) {
      unknown = true;
      if (!notes.request_id().empty()) request_id.assign(notes.request_id());
    } else if (notes.answered()) {
      settle();
    }
  }
  constexpr void settle() noexcept {
    unknown = false;
    request_id.clear();
  }
};

}  // namespace shared

/// The time limits of one call; the earliest one applies. (D2)
struct TimeLimits {
  TimePoint started{};          ///< read only if there is a budget
  TimePoint attempt_started{};  ///< of the current attempt; read only if attempts have a limit
  std::optional<Duration> budget{};
  std::optional<TimePoint> deadline{};
  std::optional<Duration> attempt_timeout{};

  constexpr bool bounded() const noexcept { return budget || deadline; }

  /// The time left at `now`: 0 at or after the end, and never more than the budget, even if the clock was set back. (D7)
  constexpr Duration remaining(TimePoint now) const noexcept {
    auto left = (Duration::max)();
    if (budget) left = left_of(*budget, time_between(started, now));
    if (deadline) left = shorter_of(left, time_between(now, *deadline));
    return left;
  }
  /// The time left for the current attempt, its own limit included. (D6)
  constexpr Duration attempt_remaining(TimePoint now) const noexcept {
    const auto left = remaining(now);
    if (!attempt_timeout) return left;
    return shorter_of(left, left_of(*attempt_timeout, time_between(attempt_started, now)));
  }
  /// Whether the attempt's own limit has run out. A driver enforces that limit by cancelling the operation. (B4)
  constexpr bool attempt_timed_out(TimePoint now) const noexcept {
    return attempt_timeout && left_of(*attempt_timeout, time_between(attempt_started, now)).count() == 0;
  }
  constexpr std::optional<TimePoint> end() const noexcept {
    if (!budget) return deadline;
    const auto end_of_budget = later(started, *budget);
    return deadline ? earlier_of(end_of_budget, *deadline) : end_of_budget;
  }
  constexpr std::optional<TimePoint> attempt_end() const noexcept {
    if (!attempt_timeout) return end();
    const auto own = later(attempt_started, *attempt_timeout);
    return bounded() ? earlier_of(own, *end()) : own;
  }
};

/// The current attempt, passed to the callable if it takes one; valid until the callable returns.
/// Marks and notes may be set by one thread at a time; everything else is thread-safe.
class Attempt {
 public:
  Attempt(int number, const CurrentCall& call, AttemptNotes& notes, const TimeLimits& limits,
          Now now) noexcept
      : ordinal{number},
        call_{call},
        notes_{notes},
        limits_{limits},
        now_{now} {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// 1 for the first attempt of the call, then 2, 3 … without a gap. (A4)
  int ordinal;

  std::string_view call_id() const noexcept { return call_.id(); }
  std::string_view call_name() const noexcept { return call_.name(); }
  const Call& call() const noexcept { return call_.call(); }
  const CurrentCall& current() const noexcept { return call_; }
  const StopView& stop() const noexcept { return call_.call().stop; }

  /// When this attempt must end: the call's earliest limit or the attempt's own, whichever comes first. An inner call can use
  /// it as its own `deadline`. Empty if there is no limit. (D2)
  std::optional<TimePoint> deadline() const noexcept { return limits_.attempt_end(); }

  /// The time left for this attempt, before the call's earliest limit and the policy's limit for one attempt; 0 when the time
  /// is over. Empty if there is no limit. Reads the clock only if there is one. (D6)
  std::optional<Duration> remaining() const {
    if (!limits_.bounded() && !limits_.attempt_timeout) return std::nullopt;
    return limits_.attempt_remaining(now_());
  }
  /// The remaining time as a timeout for another interface, in its unit: rounded up, at most `longest`, and at least one unit
  /// even when the time is over, because 0 often means "no limit" (libcurl, `SO_RCVTIMEO`). So the attempt may end up to one
  /// unit after its deadline. (D6)
  ///   curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, long{attempt.timeout_or<std::chrono::milliseconds>(10s).count()});
  template <class Unit, class Rep, class Period>
  Unit timeout_or(std::chrono::duration<Rep, Period> longest) const {
    const auto left = remaining();
    const auto most = to_duration(longest);
    return at_least_one<Unit>(left ? shared::smaller_of(*left, most) : most);
  }
  /// `timeout_or` in nanoseconds: at least 1.
  template <class Rep, class Period>
  Duration remaining_or(std::chrono::duration<Rep, Period> longest) const {
    return timeout_or<Duration>(longest);
  }

  /// The idempotency key: the same for all attempts of this call and different from every other call's, even if the ids are
  /// equal. It is the caller's operation key, if given. An inner call keeps its key when the outer policy repeats the attempt
  /// around it; on another thread or in a coroutine this needs `Call::outer`. Calling this notes that the key is sent.
  /// Allocates. (I2)
  std::string idempotency_key() const {
    notes_.key_used_ = true;
    return call_.idempotency_key();
  }

  // The state of the request. An attempt that sends several requests marks each of them. (I3)

  /// The request is about to be sent, or was sent: until it is marked as answered or not run, a failure's outcome is unknown.
  /// Call this again for the next request of the attempt. A second call without an answer in between means that a lower layer
  /// repeated the request, as libcurl does with a POST on a reused connection: see `AttemptNotes::dispatched_again`.
  void mark_dispatched() const noexcept {
    if (notes_.latest_ == AttemptNotes::Request::dispatched) notes_.dispatched_again_ = notes_.lost_ = true;
    if (notes_.latest_ != AttemptNotes::Request::none) {  // the notes belong to an earlier answer
      notes_.has_status_ = false;
      notes_.error_code_.clear();
    }
    notes_.latest_ = AttemptNotes::Request::dispatched;
    notes_.dispatched_ = true;
  }
  /// The service that does the work has answered, whatever the answer. A gateway's "service unreachable" is not an answer.
  void mark_answered() const noexcept {
    notes_.latest_ = AttemptNotes::Request::answered;
    notes_.something_answered_ = true;
    notes_.lost_ = false;
  }
  /// The request was not executed, as the other side or the connection reports: a refused connection, 429, 503, an invalid
  /// request. Use it instead of `mark_answered`, whether or not the request was dispatched. If no request of the attempt ran, a
  /// failure that the filter matches may be retried, even if the tool is not declared repeatable. It does not change the outcome
  /// of earlier attempts. (I1)
  void mark_not_run() const noexcept { notes_.latest_ = AttemptNotes::Request::not_run; }
  /// The value about to be returned reports a failure of the tool: events show it, but it does not count as a failure. (B8)
  void mark_error_result() const noexcept { notes_.error_result_ = true; }
  void note_status(int status) const noexcept {
    notes_.status_ = status;
    notes_.has_status_ = true;
  }
  void note_request_id(std::string_view id) const noexcept { notes_.request_id_.assign(id); }
  /// The dependency's own code for what went wrong, as in its answer: one of a small set, not a message text. It belongs to the
  /// attempt's latest request and is cut at `AttemptNotes::max_error_code` bytes. Logs and records show it as `error.code` with
  /// the failed attempt and, after the last one, with the end of the call; reports count by it. (F6)
  ///   attempt.note("insufficient_quota");
  void note(std::string_view error_code) const noexcept { notes_.error_code_.assign(error_code); }
  const AttemptNotes& notes() const noexcept { return notes_; }

 private:
  friend class CurrentCall;
  const CurrentCall& call_;
  AttemptNotes& notes_;
  const TimeLimits& limits_;
  Now now_;
};

namespace shared {

/// Appends '/' and the text; what is not visible ASCII, '/' and '%' are percent-encoded, so that parts cannot be confused.
inline void append_key_part(std::string& key, std::string_view text) {
  key += '/';
  for (const char character : text) {
    if (character > ' ' && character <= '~' && character != '/' && character != '%')
      key += character;
    else
      append_hexadecimal(key += '%', {&character, 1});
  }
}

}  // namespace shared

inline const Attempt* CurrentCall::outer() const noexcept {
  if (call_.outer != nullptr || around_ == nullptr) return call_.outer;
  return around_->attempt;
}

ENCORE_COLD inline void CurrentCall::take_number() const noexcept {
  const auto* const outer = this->outer();
  if (outer == nullptr || !call_.operation_key.empty()) return;
  key_settled_([&] { number_ = outer->call_.inner_numbers_.next(outer->ordinal, id_inside()); });
}

inline std::string CurrentCall::idempotency_key() const {
  if (!call_.operation_key.empty()) return std::string{call_.operation_key};
  if (const auto* const outer = this->outer()) {
    take_number();
    auto key = outer->call_.idempotency_key();
    shared::append_key_part(key, id_inside());
    return key.append(1, '/').append(std::to_string(number_));
  }
  const auto its_scope = scope();
  key_settled_([&] { number_ = its_scope.draw(); });
  auto key = its_scope.text();
  shared::append_key_part(key, id());
  return key.append(1, '/').append(shared::hexadecimal(number_));
}

}  // namespace encore

// One execution of the callable for a call, as the callable sees it.
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

/// A text of at most so many bytes, kept without allocating. What is longer is cut.
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

/// What the callable noted about its attempt, for events and for replay safety. Bounded, allocates nothing. (F6, I3)
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
  /// A request left.
  constexpr bool dispatched() const noexcept { return dispatched_; }
  /// The latest request was answered by whoever does the work.
  constexpr bool answered() const noexcept { return latest_ == Request::answered; }
  /// Nothing was done: no request of the attempt ran. (I1)
  constexpr bool not_run() const noexcept {
    return latest_ == Request::not_run && !something_answered_ && !lost_;
  }
  /// A request left while the one before had no answer: somebody below repeats requests by itself. (I3, J1)
  constexpr bool dispatched_again() const noexcept { return dispatched_again_; }
  constexpr bool key_used() const noexcept { return key_used_; }
  /// The callable returned, and what it returned says that it failed. (B8)
  constexpr bool error_result() const noexcept { return error_result_; }
  /// A request left, and it was neither answered nor said not to have run. (I3)
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
  bool lost_ = false;                // one before the latest had no answer, and none has come since
  bool something_answered_ = false;  // of the requests so far
  bool key_used_ = false;
  bool error_result_ = false;
  shared::ShortText<max_request_id> request_id_;
  shared::ShortText<max_error_code> error_code_;
};

namespace shared {

/// What the attempts of one call leave behind: an unknown outcome stays one until a later attempt is answered, and one that did
/// not run settles nothing. (I3)
struct OutcomeSoFar {
  bool unknown = false;
  ShortText<AttemptNotes::max_request_id> request_id;  // of the latest request without an answer

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

/// The time limits of one call; the earliest holds. (D2)
struct TimeLimits {
  TimePoint started{};          ///< read only if there is a budget
  TimePoint attempt_started{};  ///< the attempt under way; read only if there is a limit for each attempt
  std::optional<Duration> budget{};
  std::optional<TimePoint> deadline{};
  std::optional<Duration> attempt_timeout{};

  constexpr bool bounded() const noexcept { return budget || deadline; }

  /// What is left at `now`: 0 at or after the end, and never more than the budget, even if the clock was set back. (D7)
  constexpr Duration remaining(TimePoint now) const noexcept {
    auto left = (Duration::max)();
    if (budget) left = left_of(*budget, time_between(started, now));
    if (deadline) left = shorter_of(left, time_between(now, *deadline));
    return left;
  }
  /// The same for the attempt under way, of which its own limit runs down too. (D6)
  constexpr Duration attempt_remaining(TimePoint now) const noexcept {
    const auto left = remaining(now);
    if (!attempt_timeout) return left;
    return shorter_of(left, left_of(*attempt_timeout, time_between(attempt_started, now)));
  }
  /// Has the attempt's own limit run out? Whoever enforces one does it by cancelling the operation. (B4)
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

/// The attempt under way. Handed to the callable, if it takes one; valid until the callable returns.
/// The marks and notes may be set by one thread at a time; everything else is safe from any.
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

  /// When this attempt must be over: at the call's earliest limit, or at its own, if that comes first. An inner call can take
  /// it over as its own `deadline`. Empty if there is no limit. (D2)
  std::optional<TimePoint> deadline() const noexcept { return limits_.attempt_end(); }

  /// How long this attempt may still take: until the call's earliest limit, and no longer than what is left of the policy's
  /// limit for one attempt; 0 when the time is over. Empty if there is no limit: only then is no clock read. (D6)
  std::optional<Duration> remaining() const {
    if (!limits_.bounded() && !limits_.attempt_timeout) return std::nullopt;
    return limits_.attempt_remaining(now_());
  }
  /// The same as a timeout to hand on, in whole units of the interface that takes it, and at most `longest`: rounded up, and
  /// at least one unit even when the time is over, because 0 means "no limit" to much of the world (libcurl,
  /// `SO_RCVTIMEO`). So the attempt may end up to one unit after its deadline. (D6)
  ///   curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, long{attempt.timeout_or<std::chrono::milliseconds>(10s).count()});
  template <class Unit, class Rep, class Period>
  Unit timeout_or(std::chrono::duration<Rep, Period> longest) const {
    const auto left = remaining();
    const auto most = to_duration(longest);
    return at_least_one<Unit>(left ? shared::smaller_of(*left, most) : most);
  }
  /// That in nanoseconds: at least one.
  template <class Rep, class Period>
  Duration remaining_or(std::chrono::duration<Rep, Period> longest) const {
    return timeout_or<Duration>(longest);
  }

  /// The key that makes a repetition recognisable: equal for all attempts of this call, and no other call's, whatever ids
  /// they have. The caller's operation key if it gave one. A call inside an attempt that its outer policy repeats keeps its
  /// key; on another thread or in a coroutine, if it was told of that attempt (`Call::outer`). Asking for it notes that it is
  /// sent. Allocates. (I2)
  std::string idempotency_key() const {
    notes_.key_used_ = true;
    return call_.idempotency_key();
  }

  // What became of the request. An attempt that sends several marks each of them. (I3)

  /// The request is about to leave, or has left: until it is marked as answered or as not run, a failure's outcome is unknown.
  /// The next request of the attempt begins anew with it. Marked again before that, somebody below has repeated the request by
  /// itself, as libcurl does with a POST on a reused connection: `AttemptNotes::dispatched_again`.
  void mark_dispatched() const noexcept {
    if (notes_.latest_ == AttemptNotes::Request::dispatched) notes_.dispatched_again_ = notes_.lost_ = true;
    if (notes_.latest_ != AttemptNotes::Request::none) {  // what was noted was of an earlier answer
      notes_.has_status_ = false;
      notes_.error_code_.clear();
    }
    notes_.latest_ = AttemptNotes::Request::dispatched;
    notes_.dispatched_ = true;
  }
  /// Whoever does the work has answered, whatever the answer says. A gateway that says it could not reach them has not.
  void mark_answered() const noexcept {
    notes_.latest_ = AttemptNotes::Request::answered;
    notes_.something_answered_ = true;
    notes_.lost_ = false;
  }
  /// Nothing was done, and the other side or the connection says so: refused before anything left, 429, 503, an invalid request.
  /// In place of `mark_answered`, whether it had been dispatched or not. If no request of the attempt ran, a failure that the
  /// filter matches may be followed by another attempt, whatever was declared of the tool. It settles nothing of the attempts
  /// before. (I1)
  void mark_not_run() const noexcept { notes_.latest_ = AttemptNotes::Request::not_run; }
  /// What is about to be returned says that the tool failed: seen in events, without being a failure. (B8)
  void mark_error_result() const noexcept { notes_.error_result_ = true; }
  void note_status(int status) const noexcept {
    notes_.status_ = status;
    notes_.has_status_ = true;
  }
  void note_request_id(std::string_view id) const noexcept { notes_.request_id_.assign(id); }
  /// The dependency's own code for what went wrong, as it stands in its answer: one of a few, and no text of a message. It belongs to
  /// the latest request of this attempt, and is cut at `AttemptNotes::max_error_code` bytes. Logs and records tell it as
  /// `error.code` with the attempt's failure and, if that was the last, with the call's end; reports count by it. (F6)
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

/// Text as a part of a key that nothing in it ends: what is not visible ASCII, '/' and '%' as in a URL.
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

// The retry state of a call whose first attempt ran before anything was set up for it.
#pragma once
#include <encore/attributes.hpp>
#include <encore/call_frame.hpp>
#include <encore/retry_state.hpp>
#include <encore/unretryable.hpp>

#include <exception>
#include <new>
#include <optional>
#include <type_traits>

namespace encore::detail {

/// Room for a retry state that is made when the first attempt has failed: until then it costs one pointer stored. What
/// crosses into its cold functions is taken apart into scalars: an aggregate would be built in memory before every attempt.
/// With a budget the last exception is kept, because a wait may end past the limit.
template <class Policy>
class LateState {
  using State = RetryState<Policy, Policy::has_time_budget ? KeepError::if_needed : KeepError::never>;

 public:
  explicit LateState(const Policy& policy) noexcept : unmade_{&policy} {}
  LateState(const LateState&) = delete;
  LateState& operator=(const LateState&) = delete;
  ~LateState()
    requires std::is_trivially_destructible_v<State>
  = default;
  ~LateState() {
    if (made()) room_.state.~State();
  }

  bool made() const noexcept { return unmade_ == nullptr; }
  void succeeded() { room_.state.succeeded(); }

#if defined(__cpp_exceptions)
  /// In the handler: does another attempt follow? If not, the exception leaves. For callables that do not take their attempt.
  template <class Error>
  ENCORE_COLD bool threw(const Error* error, std::optional<TimePoint> started, int errors, const char* id,
                         std::size_t id_size, const char* name, std::size_t name_size, const char* resolved,
                         std::size_t resolved_size, const Scope* scope) {
    if (!made())
      make({.id = {id, id_size},
            .name = {name, name_size},
            .resolved_name = {resolved, resolved_size},
            .scope = scope},
           started, errors);
    return decide(caught_as_exception(error));
  }
  /// For those that do, whose frame there was from the start.
  template <class Error>
  ENCORE_COLD bool threw(const Error* error, std::optional<TimePoint> started, int errors, CallFrame& frame) {
    if (!made()) make(frame, started, errors);
    return decide(caught_as_exception(error));
  }
#endif

  /// The attempt returned a failure: does another one follow? `verdict` as in `RetryState::returned_failure`.
  template <class Value>
  ENCORE_COLD bool returned_failure(const Value& value, StopReason verdict, std::optional<TimePoint> started,
                                    int errors, CallFrame& frame) {
    if (!made()) make(frame, started, errors);
    next_ = room_.state.returned_failure(value, verdict);
    return next_.goes_on();
  }

  /// Waits. Answers false if the call ended in the wait.
  ENCORE_COLD bool wait() {
    sleep_through(room_.state.policy(), room_.state, next_.wait);
    return room_.state.resume().goes_on();
  }
  std::exception_ptr error() const noexcept { return room_.state.error(); }

 private:
  struct Frame {
    Call call;
    CallFrame frame;
  };
  union Room {
    Room() noexcept {}
    ~Room()
      requires std::is_trivially_destructible_v<State>
    = default;
    ~Room() {}
    State state;
  };
  union FrameRoom {
    FrameRoom() noexcept {}
    Frame owned;
  };
  static_assert(std::is_trivially_destructible_v<Frame>);

  void make(const Call& call, const std::optional<TimePoint>& started, int errors) {
    auto& owned = *::new (static_cast<void*>(&frame_.owned)) Frame{
        call, {frame_.owned.call, limits_of(*unmade_, call, started), Now{unmade_->clock()}}};
    make(owned.frame, started, errors);
  }
  void make(CallFrame& frame, const std::optional<TimePoint>& started, int errors) {
    ::new (static_cast<void*>(&room_.state)) State{*unmade_, frame, started, errors};
    unmade_ = nullptr;
  }
#if defined(__cpp_exceptions)
  bool decide(const std::exception* error) {
    if (error == nullptr && std::current_exception() == nullptr) {
      room_.state.unwound();
      return false;
    }
    next_ = room_.state.threw(error);
    return next_.goes_on();
  }
#endif

  const Policy* unmade_;  // until there is a state, which has a reference of its own
  Room room_;
  FrameRoom frame_;
  union {
    Decision next_;  // what was said of the last failure, once there was one
  };
};

}  // namespace encore::detail

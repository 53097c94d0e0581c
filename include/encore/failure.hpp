// A failed attempt, as predicates and hints see it; and a failed call, as the failure strategy sees it.
#pragma once
#include <encore/already_retries.hpp>
#include <encore/attempt.hpp>
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop_reason.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

namespace encore ENCORE_BUILD {

/// What is known of a failed attempt beside its exception or value. Valid while it is being judged.
struct FailedAttempt {
  int ordinal = 1;
  const CurrentCall* call = nullptr;
  const AttemptNotes* notes = nullptr;  ///< what the callable noted about it
  const Attempt* attempt = nullptr;

  /// Was its call asked to stop?
  bool stop_requested() const noexcept { return attempt != nullptr && attempt->stop().stop_requested(); }
  /// Has its time run out, by its own limit or the call's? Whoever enforces that does it by cancelling the operation. Reads the
  /// clock if there is a limit. (B4, D6)
  bool timed_out() const { return attempt != nullptr && attempt->remaining() == Duration::zero(); }
  std::string_view call_id() const noexcept { return call != nullptr ? call->id() : std::string_view{}; }
  std::string_view call_name() const noexcept { return call != nullptr ? call->name() : std::string_view{}; }
};

/// The exception in flight. Only valid inside its handler.
class Thrown {
 public:
  constexpr explicit Thrown(const std::exception* error) noexcept : error_{error} {}
  constexpr Thrown(const std::exception* error, const FailedAttempt& attempt) noexcept
      : error_{error},
        attempt_{&attempt} {}

  /// The exception as `std::exception`; null if a `catch (const std::exception&)` would not have caught it.
  constexpr const std::exception* error() const noexcept { return error_; }
  constexpr const FailedAttempt& attempt() const noexcept { return *attempt_; }
  /// Its text, never null: empty if it has none.
  const char* what() const noexcept {
    const char* const text = error_ != nullptr ? error_->what() : nullptr;
    return text != nullptr ? text : "";
  }

  /// Would a `catch (const E&)` catch it? Without a rethrow where `E` derives from `std::exception`. (B2, P7)
  template <class E>
  bool is() const noexcept {
    return find<E>([](const auto&) {});
  }

  /// Is it an `E`, and no more than that? May say no where the platform cannot tell by one comparison.
  template <class E>
  bool is_just() const noexcept {
#if defined(__cpp_exceptions) && defined(__cpp_rtti)
    if constexpr (std::derived_from<E, std::exception>) {
      if (error_ == nullptr) return false;
      const auto& error = *error_;
      return &typeid(error) == &typeid(E);
    }
#endif
    return false;
  }

  /// Calls `use(e)` with what a `catch (const E& e)` would bind, and tells whether it did.
  template <class E, class Use>
  bool with(Use&& use) const {
    return find<E>(use);
  }

 private:
#if defined(__cpp_exceptions) && defined(__cpp_rtti)
  // Most exceptions are of just the type that is listed: that is told by one comparison.
  template <class E>
  const E* cast() const noexcept {
    if constexpr (requires { static_cast<const E*>(error_); }) {
      if (is_just<E>()) return static_cast<const E*>(error_);
    }
    return dynamic_cast<const E*>(error_);
  }
#endif

  template <class E, class Use>
  bool find([[maybe_unused]] Use&& use) const {
#if defined(__cpp_exceptions)
#if defined(__cpp_rtti)
    if constexpr (std::derived_from<E, std::exception>) {
      if (error_ != nullptr) {
        const E* const found = cast<E>();
        // A cast also finds what is a private base, if it shares a virtual `std::exception` with a public one; a handler
        // does not, and is asked.
        constexpr bool certain = requires { static_cast<const E*>(error_); };
        if (certain || found == nullptr) {
          if (found != nullptr) use(*found);
          return found != nullptr;
        }
      } else if constexpr (std::is_final_v<E>) {
        return false;
      }
    } else if constexpr (std::is_polymorphic_v<E>) {
      if (error_ != nullptr) {  // a cast across, which finds public bases only, as a handler does
        const E* const found = dynamic_cast<const E*>(error_);
        if (found != nullptr) use(*found);
        return found != nullptr;
      }
    } else if constexpr (!std::is_class_v<E>) {
      if (error_ != nullptr) return false;
    }
#endif
    // A thread's forced unwind is no exception of anybody's: caught and not thrown on, it would end the process. (B4)
    if (error_ == nullptr && std::current_exception() == nullptr) return false;
    const E* found = nullptr;
    try {
      throw;
    } catch (const E& error) {
      if constexpr (std::is_pointer_v<E>) {
        use(error);  // a converted pointer lives only as long as this handler
        return true;
      } else {
        found = detail::address_of(error);
      }
    } catch (...) {}
    if (found != nullptr) use(*found);
    return found != nullptr;
#else
    return false;
#endif
  }

  static constexpr FailedAttempt not_known{};
  const std::exception* error_;
  const FailedAttempt* attempt_ = &not_known;
};

/// A returned value that may be a failure.
template <class Value>
struct Returned {
  const Value& value;
  const FailedAttempt& attempt;
};

namespace detail {

/// Its address stands for a type. Not constant, since a linker may fold constants that are equal.
template <class V>
ENCORE_ONE_PER_PROCESS inline char type_mark = 0;

/// Points to the last failed value, whatever its type, from a failure that is looked at where that value is. A copy of the failure
/// may outlive the value, so it points to nothing.
class LastValueView {
 public:
  constexpr LastValueView() noexcept = default;
  template <class V>
  constexpr explicit LastValueView(const V& value) noexcept
      : value_{detail::address_of(value)},
        type_{&type_mark<V>} {}
  constexpr LastValueView(const LastValueView&) noexcept {}
  constexpr LastValueView& operator=(const LastValueView& other) noexcept {
    if (this != &other) look_at_nothing();
    return *this;
  }
  template <class V>
  constexpr void look_at(const V& value) noexcept {
    value_ = detail::address_of(value);
    type_ = &type_mark<V>;
  }
  constexpr void look_at_nothing() noexcept { value_ = nullptr, type_ = nullptr; }
  template <class V>
  constexpr const V* get() const noexcept {
    return type_ == &type_mark<V> ? static_cast<const V*>(value_) : nullptr;
  }

 private:
  const void* value_ = nullptr;
  const char* type_ = nullptr;
};

}  // namespace detail

/// A call that did not succeed: everything a failure strategy may say about it. Owns what it holds, but for the last value. (G2, G3)
struct Failure {
  std::string call_id{};
  std::string call_name{};
  StopReason reason = StopReason::none;
  int attempts = 0;
  std::optional<int> max_attempts{};  ///< empty: unlimited
  Duration elapsed{};
  Duration slept{};
  std::exception_ptr error{};  ///< null if the last failure is a value, or if there was no attempt (G4)
  int observer_errors = 0;     ///< events that an observer answered with an exception, so far (F3)
  /// An attempt's request left without an answer, none came to a later attempt, and repeating it is not harmless: it may
  /// have had its effect, whatever `reason` says. (I3)
  bool outcome_unknown = false;
  /// The earliest time of another call that the server's last hint, or the guard that refused, named, from the end of this one;
  /// empty if nobody did. (G5)
  std::optional<Duration> retry_after{};
  int inner_attempts = 1;        ///< that what was called made of each attempt by itself, at most (J1)
  detail::LastValueView last{};  // read through `last_value`

  /// Calls `use(e)` with what a `catch (const E& e)` would bind of the last exception, and tells whether it did; no, if there was no
  /// exception. What `use` throws leaves. (G8)
  template <class E, class Use>
  bool with([[maybe_unused]] Use&& use) const {
#if defined(__cpp_exceptions)
    if (error == nullptr) return false;
    try {
      std::rethrow_exception(error);
    } catch (const E& caught) {
      static_cast<void>(use(caught));
      return true;
    } catch (...) {}
#endif
    return false;
  }
  /// The value that the last failed attempt returned, if it returned one and it is of just this type; else null. In the failure
  /// that a formatter is given, and in an outcome's own; a copy has none. (G8)
  template <class V>
  const V* last_value() const noexcept {
    return last.get<V>();
  }

  /// The most requests that may have reached the dependency; empty: unlimited.
  template <class Requests = std::int64_t>
  std::optional<Requests> max_requests() const noexcept {
    return max_requests_of<Requests>(max_attempts, inner_attempts);
  }
  /// True if a limit, a stop request or a guard refused the call before its first attempt. (G4)
  bool refused_on_entry() const noexcept { return attempts == 0; }
};

namespace detail {

/// The figures of a call that ended, of which an outcome with a value tells.
struct CallFigures {
  StopReason reason;
  int attempts;
  Duration elapsed;
  Duration slept;
  int observer_errors;
};

}  // namespace detail
}  // namespace encore ENCORE_BUILD

// A failed attempt, as seen by predicates and hints.
#pragma once
#include <encore/attempt.hpp>
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>

#include <concepts>
#include <exception>
#include <string_view>
#include <type_traits>
#include <typeinfo>

namespace encore ENCORE_BUILD {

/// What is known about a failed attempt besides its exception or value. Valid while it is being judged.
struct FailedAttempt {
  int ordinal = 1;
  const CurrentCall* call = nullptr;
  const AttemptNotes* notes = nullptr;  ///< what the callable noted about it
  const Attempt* attempt = nullptr;

  /// Whether its call was asked to stop.
  bool stop_requested() const noexcept { return attempt != nullptr && attempt->stop().stop_requested(); }
  /// Whether its time has run out, by its own limit or the call's. Drivers enforce these limits by cancelling the operation.
  /// Reads the clock if there is a limit. (B4, D6)
  bool timed_out() const { return attempt != nullptr && attempt->remaining() == Duration::zero(); }
  std::string_view call_id() const noexcept { return call != nullptr ? call->id() : std::string_view{}; }
  std::string_view call_name() const noexcept { return call != nullptr ? call->name() : std::string_view{}; }
};

/// The exception being handled. Only valid inside its handler.
class Thrown {
 public:
  constexpr explicit Thrown(const std::exception* error) noexcept : error_{error} {}
  constexpr Thrown(const std::exception* error, const FailedAttempt& attempt) noexcept
      : error_{error},
        attempt_{&attempt} {}

  /// The exception as `std::exception`; null if `catch (const std::exception&)` would not catch it.
  constexpr const std::exception* error() const noexcept { return error_; }
  constexpr const FailedAttempt& attempt() const noexcept { return *attempt_; }
  /// Its text, never null: empty if it has none.
  const char* what() const noexcept {
    const char* const text = error_ != nullptr ? error_->what() : nullptr;
    return text != nullptr ? text : "";
  }

  /// Whether `catch (const E&)` would catch it. No rethrow if `E` derives from `std::exception`. (B2, P7)
  template <class E>
  bool is() const noexcept {
    return find<E>([](const auto&) {});
  }

  /// Whether its dynamic type is exactly `E`. May be false where the platform cannot tell by one comparison.
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

  /// Calls `use(e)` with what `catch (const E& e)` would bind, and returns whether it did.
  template <class E, class Use>
  bool with(Use&& use) const {
    return find<E>(use);
  }

 private:
#if defined(__cpp_exceptions) && defined(__cpp_rtti)
  // Most exceptions have exactly the listed type, which one comparison detects.
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
        // dynamic_cast also finds a private base that shares a virtual `std::exception` with a public one. A handler does not, so
        // in that case a handler decides.
        constexpr bool certain = requires { static_cast<const E*>(error_); };
        if (certain || found == nullptr) {
          if (found != nullptr) use(*found);
          return found != nullptr;
        }
      } else if constexpr (std::is_final_v<E>) {
        return false;
      }
    } else if constexpr (std::is_polymorphic_v<E>) {
      if (error_ != nullptr) {  // a cross-cast, which finds public bases only, as a handler does
        const E* const found = dynamic_cast<const E*>(error_);
        if (found != nullptr) use(*found);
        return found != nullptr;
      }
    } else if constexpr (!std::is_class_v<E>) {
      if (error_ != nullptr) return false;
    }
#endif
    // A thread's forced unwind is not an exception: catching it without rethrowing would terminate the process. (B4)
    if (error_ == nullptr && std::current_exception() == nullptr) return false;
    const E* found = nullptr;
    try {
      throw;
    } catch (const E& error) {
      if constexpr (std::is_pointer_v<E>) {
        use(error);  // a converted pointer is valid only inside this handler
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

/// A returned value that may be a failure, in <encore/returned.hpp>.
template <class Value>
struct Returned;

}  // namespace encore ENCORE_BUILD

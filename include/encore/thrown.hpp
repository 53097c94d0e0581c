// A failed attempt, as predicates and hints see it.
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

/// A returned value that may be a failure, in <encore/returned.hpp>.
template <class Value>
struct Returned;

}  // namespace encore ENCORE_BUILD

// The result of a call with failures as values: what it returned, or why it stopped and what failed last.
#pragma once
#include <concepts>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <version>
#if defined(__cpp_lib_expected)
#include <expected>
#endif

#include <encore/detail/address_of.hpp>
#include <encore/failure.hpp>
#include <encore/on_failure.hpp>
#include <encore/refused.hpp>
#include <encore/setting.hpp>

namespace encore ENCORE_BUILD {

namespace detail {

/// The part that all outcomes share: the failure.
class FailedOutcome {
 public:
  [[nodiscard]] constexpr bool has_value() const noexcept { return !failure_.has_value(); }
  constexpr explicit operator bool() const noexcept { return has_value(); }

  /// Why the call stopped, and what failed last. Precondition: there is no value. For a temporary outcome it returns by value.
  const Failure& failure() const& noexcept { return *failure_; }
  Failure failure() && { return *std::move(failure_); }

  /// The number of attempts made, whether the call succeeded or not.
  int attempts() const noexcept { return attempts_; }
  Duration elapsed() const noexcept { return elapsed_; }
  Duration slept() const noexcept { return slept_; }
  /// The number of exceptions that observers threw during this call. (F3)
  int observer_errors() const noexcept { return observer_errors_; }
  /// `succeeded`, or the reason of the failure.
  StopReason reason() const noexcept { return failure_ ? failure_->reason : reason_; }

 protected:
  explicit FailedOutcome(Failure failure)
      : failure_{std::move(failure)},
        attempts_{failure_->attempts},
        elapsed_{failure_->elapsed},
        slept_{failure_->slept},
        observer_errors_{failure_->observer_errors} {}
  FailedOutcome(StopReason reason, int attempts, Duration elapsed, Duration slept,
                int observer_errors) noexcept
      : attempts_{attempts},
        elapsed_{elapsed},
        slept_{slept},
        observer_errors_{observer_errors},
        reason_{reason} {}

  // A copy of the failure alone points to no last value; inside an outcome it does, also after the outcome is copied or moved.
  template <class V>
  void show(const V& last) noexcept {
    failure_->last.look_at(last);
  }
  void require_value() const {
    if (!has_value()) [[unlikely]]
      throw_failure();
  }

 private:
  [[noreturn]] void throw_failure() const {
#if defined(__cpp_exceptions)
    if (failure_->error != nullptr) std::rethrow_exception(failure_->error);
    if (failure_->refused_on_entry()) throw Refused{reason(), failure_->call_id, failure_->call_name};
    throw std::logic_error{"encore: the outcome of call " + failure_->call_id +
                           " has no value: " + std::string{to_string(reason())}};
#else
    refuse_setting("outcome", to_string(reason()), "has no value");
#endif
  }
  std::optional<Failure> failure_{};
  int attempts_ = 0;
  Duration elapsed_{};
  Duration slept_{};
  int observer_errors_ = 0;
  StopReason reason_ = StopReason::succeeded;
};

}  // namespace detail

/// A value, or a failure with its reason, attempts and times. (G2)
///   const Outcome<int> outcome = policy.with(ReturnOutcome{}).run(call, lookup);
///   if (!outcome) log(outcome.failure());
template <class T>
class [[nodiscard("an Outcome may hold a failure: look at it")]] Outcome : public detail::FailedOutcome {
  using Stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

 public:
  using value_type = T;

  template <class U>
  Outcome(U&& value, const detail::CallFigures& figures)
      : FailedOutcome{figures.reason, figures.attempts, figures.elapsed, figures.slept,
                      figures.observer_errors},
        stored_{store(std::forward<U>(value))} {}
  explicit Outcome(Failure failure) : FailedOutcome{std::move(failure)} {}
  /// A failure whose last failed attempt returned a value.
  template <class U>
    requires(!std::same_as<std::remove_cvref_t<U>,
                           detail::CallFigures>)  // excludes a value type that converts to anything
  Outcome(Failure failure, U&& last)
      : FailedOutcome{std::move(failure)},
        stored_{store(std::forward<U>(last))} {
    show_last_value();
  }
  Outcome(const Outcome& other)
    requires std::copy_constructible<Stored>
      : FailedOutcome(other),
        stored_{other.stored_} {
    show_last_value();
  }
  Outcome(Outcome&& other) noexcept(std::is_nothrow_move_constructible_v<Stored>)
      : FailedOutcome(std::move(other)),
        stored_{std::move(other.stored_)} {
    show_last_value();
  }
  Outcome& operator=(const Outcome& other)
    requires std::is_copy_assignable_v<Stored>
  {
    FailedOutcome failed{other};
    stored_ = other.stored_;  // first, so that if it throws, an outcome with a value still has one
    FailedOutcome::operator=(std::move(failed));
    show_last_value();
    return *this;
  }
  Outcome& operator=(Outcome&& other) noexcept(std::is_nothrow_move_assignable_v<Stored> &&
                                               std::is_nothrow_move_constructible_v<Stored>) {
    stored_ = std::move(other.stored_);
    FailedOutcome::operator=(std::move(other));
    show_last_value();
    return *this;
  }
  ~Outcome() = default;

  /// The value. Without one, throws the last exception (the same object), or `Refused` if there was no attempt, or
  /// `std::logic_error` if the last failure is a value. Without exceptions, the program prints the reason and terminates.
  decltype(auto) value() const& { return require_value(), **this; }
  decltype(auto) value() & { return require_value(), **this; }
  T value() && { return require_value(), *std::move(*this); }

  /// The value. Precondition: there is one.
  decltype(auto) operator*() const& noexcept { return get(*stored_); }
  decltype(auto) operator*() & noexcept { return get(*stored_); }
  T operator*() && { return static_cast<T&&>(get(*stored_)); }
  const std::remove_reference_t<T>* operator->() const noexcept { return detail::address_of(**this); }

  /// The value of the last failed attempt, if that attempt returned one instead of throwing; else null.
  const std::remove_reference_t<T>* last_value() const& noexcept {
    return !has_value() && stored_ ? detail::address_of(get(*stored_)) : nullptr;
  }
  const std::remove_reference_t<T>* last_value() const&& = delete;  // it would point into a destroyed object

  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
  }

#if defined(__cpp_lib_expected)
  operator std::expected<T, Failure>() const&
    requires(!std::is_reference_v<T> && std::copy_constructible<T>)
  {
    if (has_value()) return std::expected<T, Failure>{std::in_place, **this};
    return std::unexpected{failure()};
  }
  template <std::same_as<T> U>
    requires(!std::is_reference_v<U>)
  operator std::expected<U, Failure>() && {
    if (has_value()) return std::expected<T, Failure>{std::in_place, *std::move(*this)};
    return std::unexpected{std::move(*this).failure()};
  }
#endif

 private:
  void show_last_value() noexcept {
    if (const auto* const last = last_value()) this->show(*last);
  }
  template <class U>
  static std::optional<Stored> store(U&& value) {
    if constexpr (std::is_reference_v<T>)
      return detail::address_of(value);
    else
      return std::optional<Stored>{std::in_place, std::forward<U>(value)};
  }
  template <class S>
  static constexpr auto& get(S& stored) noexcept {
    if constexpr (std::is_reference_v<T>)
      return *stored;
    else
      return stored;
  }
  std::optional<Stored> stored_{};
};

template <>
class [[nodiscard("an Outcome may hold a failure: look at it")]] Outcome<void>
    : public detail::FailedOutcome {
 public:
  using value_type = void;
  explicit Outcome(const detail::CallFigures& figures) noexcept
      : FailedOutcome{figures.reason, figures.attempts, figures.elapsed, figures.slept,
                      figures.observer_errors} {}
  explicit Outcome(Failure failure) : FailedOutcome{std::move(failure)} {}
  /// Throws like `value()` of other outcomes if the call failed.
  void value() const { require_value(); }

#if defined(__cpp_lib_expected)
  operator std::expected<void, Failure>() const {
    if (has_value()) return {};
    return std::unexpected{failure()};
  }
#endif
};

static_assert(FailureStrategy<ReturnOutcome>);

}  // namespace encore ENCORE_BUILD

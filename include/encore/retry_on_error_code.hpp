// Retrying by error code: `std::system_error` and derived types, returned `std::error_code`s, and results whose error is one.
#pragma once
#include <encore/combined_predicates.hpp>
#include <encore/detail/error_code.hpp>
#include <encore/detail/error_code_in.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>
#include <encore/returned.hpp>
#include <encore/setting.hpp>
#include <encore/thrown.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <system_error>
#include <type_traits>

namespace encore ENCORE_BUILD {

/// One entry of a list of errors. A condition, such as a `std::errc`, matches every code equivalent to it, from any system or
/// library; a code matches only itself. A code that means success is invalid. A regular value; `constexpr` when made from a
/// `std::errc`.
class ListedError {
 public:
  constexpr ListedError(std::errc condition) : value_{failing(static_cast<int>(condition))} {}
  ListedError(const std::error_condition& condition)
      : value_{condition.category() == std::generic_category() ? failing(condition.value())
                                                               : condition.value()},
        category_{&condition.category()} {}
  ListedError(const std::error_code& code)
      : value_{failing(code.value())},
        category_{&code.category()},
        exact_{true} {}

  bool stands_for(const std::error_code& code) const noexcept {
    const auto& category = category_ != nullptr ? *category_ : std::generic_category();
    if (exact_) return code == std::error_code{value_, category};
    const std::error_condition condition{value_, category};
    return code == condition || detail::recognised(code) == condition;
  }

 private:
  static constexpr int failing(int value) {
    if (value == 0) refuse_setting("error code", "0", "is invalid: it says success, so it would never match");
    return value;
  }
  int value_;
  const std::error_category* category_ = nullptr;  // null: the generic one, which is not constexpr
  bool exact_ = false;
};

namespace detail {

/// Extracts the error code of a failure and asks `Derived` about it. It has no opinion if there is no code, or if the code means
/// success.
template <class Derived>
struct JudgesErrorCodes {
  using role = encore::role::Predicate;
  static constexpr bool types_only = true;  // does not depend on the call

  Opinion opinion(const Thrown& failure) const noexcept {
    auto said = Opinion::none;
    failure.with<std::system_error>([&](const std::system_error& error) { said = judge(error.code()); });
    return said;
  }
  template <class Value>
    requires(IsErrorCode<Value> || MayHoldErrorCode<Value>)
  Opinion opinion(const Returned<Value>& failure) const noexcept {
    return judge(error_code_in(failure.value));
  }
  template <class Failed>
    requires requires(const JudgesErrorCodes& self, const Failed& failure) { self.opinion(failure); }
  bool matches(const Failed& failure) const noexcept {
    return opinion(failure) == Opinion::yes;
  }
  /// It counts as naming every failure that it matches.
  template <class Failed>
    requires requires(const JudgesErrorCodes& self, const Failed& failure) { self.opinion(failure); }
  bool names_failure(const Failed& failure) const noexcept {
    return matches(failure);
  }

 private:
  Opinion judge(const std::error_code& code) const noexcept {
    return code ? detail::opinion(static_cast<const Derived&>(*this).lists(code)) : Opinion::none;
  }
};

}  // namespace detail

/// Retries failures whose error code is listed: exceptions that are a `std::system_error`, returned `std::error_code`s, and
/// results like `std::expected` whose error is one. It has no opinion on other results, which are successes. (B6, B8)
///   RetryOnErrorCode{std::errc::timed_out, asio::error::host_not_found_try_again}
/// If listed, `std::errc::operation_canceled` is an ordinary failure, unless the call was asked to stop. (B4)
template <std::size_t Size>
struct RetryOnErrorCode : detail::JudgesErrorCodes<RetryOnErrorCode<Size>> {
  static_assert(Size > 0, "RetryOnErrorCode takes the error codes or conditions to retry, at least one");
  std::array<ListedError, Size> listed;

  template <class... E>
    requires(sizeof...(E) == Size && (std::constructible_from<ListedError, const E&> && ...))
  constexpr explicit RetryOnErrorCode(const E&... errors) : listed{ListedError(errors)...} {}

  bool lists(const std::error_code& code) const noexcept {
    return std::any_of(listed.begin(), listed.end(),
                       [&](const auto& error) { return error.stands_for(code); });
  }
};
template <class... E>
RetryOnErrorCode(const E&...) -> RetryOnErrorCode<sizeof...(E)>;

/// The conditions that usually pass without intervention, judging by their names alone. They mean that a retry is useful, not
/// that it is safe: after a timeout or a reset, the work may have been done. (I1)
///
/// | condition                       | why the same operation may work a little later                                  |
/// |---------------------------------|---------------------------------------------------------------------------------|
/// | timed_out                       | no answer in time: a lost packet, a slow or restarting peer                     |
/// | connection_refused              | nothing is listening yet: the peer is restarting, or its queue was full         |
/// | connection_reset                | the peer, or something between, dropped the connection                          |
/// | connection_aborted              | the same, as reported by the local network stack                                |
/// | broken_pipe                     | the same, noticed while writing; the next attempt opens a new connection        |
/// | network_reset                   | the network lost the connection's state                                         |
/// | network_down                    | an interface or a link is down; links come back                                 |
/// | network_unreachable             | there is no route now; routes change within seconds                             |
/// | host_unreachable                | as above, to this one host; also while it boots                                 |
/// | resource_unavailable_try_again  | the system itself says to try again; also a socket's own timeout                |
/// | operation_would_block           | the same; another number on some systems                                        |
/// | interrupted                     | a signal came before anything was done                                          |
/// | no_buffer_space                 | the network's queues are full for now                                           |
/// | device_or_resource_busy         | something else is using it now                                                  |
/// | text_file_busy                  | a program file is still open for writing somewhere, as just after its install   |
///
/// Deliberately left out: `operation_canceled` (B4); `too_many_files_open`, `not_enough_memory` and `no_space_on_device`, which
/// leaks cause as often as load peaks do, and which more attempts make worse; `address_in_use`, `permission_denied` and the like,
/// which somebody has to fix first; `resource_deadlock_would_occur`, where the caller has to release a lock first.
inline constexpr std::array<std::errc, 15> transient_conditions{std::errc::timed_out,
                                                                std::errc::connection_refused,
                                                                std::errc::connection_reset,
                                                                std::errc::connection_aborted,
                                                                std::errc::broken_pipe,
                                                                std::errc::network_reset,
                                                                std::errc::network_down,
                                                                std::errc::network_unreachable,
                                                                std::errc::host_unreachable,
                                                                std::errc::resource_unavailable_try_again,
                                                                std::errc::operation_would_block,
                                                                std::errc::interrupted,
                                                                std::errc::no_buffer_space,
                                                                std::errc::device_or_resource_busy,
                                                                std::errc::text_file_busy};

/// Retries failures whose error code is one of `transient_conditions`. Stateless. Finds the code as `RetryOnErrorCode` does, and
/// can be combined with it:
///   RetryOnTransientErrorCode{} || RetryOnErrorCode{std::errc::too_many_files_open}
struct RetryOnTransientErrorCode : detail::JudgesErrorCodes<RetryOnTransientErrorCode> {
  static constexpr bool rules_out_never = true;
  bool lists(const std::error_code& code) const noexcept {
    const auto known = detail::recognised(code);
    return std::any_of(transient_conditions.begin(), transient_conditions.end(),
                       [&](std::errc condition) { return known == condition; });
  }
};
static_assert(Predicate<RetryOnErrorCode<1>> && Predicate<RetryOnTransientErrorCode>);

}  // namespace encore ENCORE_BUILD

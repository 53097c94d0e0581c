// Retrying for a cause inside a wrapper: exceptions nested with `std::throw_with_nested`, at any depth.
#pragma once
#include <encore/engine/predicate_parts.hpp>
#include <encore/hint.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>
#include <encore/thrown.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD {

/// The maximum number of exceptions examined in a chain, the outermost included: a chain can contain itself.
inline constexpr int deepest_nesting = 64;

namespace detail {

/// The exception nested in the one being handled; null if there is none.
inline std::exception_ptr nested_in(const Thrown& failure) {
  std::exception_ptr inner;
#if defined(__cpp_rtti)
  if (failure.error() != nullptr) {
    if (const auto* const outer = dynamic_cast<const std::nested_exception*>(failure.error()))
      inner = outer->nested_ptr();
    return inner;
  }
#endif
  failure.with<std::nested_exception>(
      [&](const std::nested_exception& outer) { inner = outer.nested_ptr(); });
  return inner;
}

/// Calls `look` for each exception of the chain, outermost first and inside its handler, until it returns true.
template <class Look>
void look_into(const Thrown& outermost, Look&& look) {
  if (look(outermost)) return;
#if defined(__cpp_exceptions)
  auto inner = nested_in(outermost);
  for (auto depth = 1; inner != nullptr && depth < deepest_nesting; ++depth) {
    const auto enough = [&](const std::exception* error) {
      const Thrown link{error, outermost.attempt()};
      if (look(link)) return true;
      inner = nested_in(link);
      return false;
    };
    try {
      std::rethrow_exception(inner);
    } catch (const std::exception& error) {
      if (enough(&error)) return;
    } catch (...) {
      if (enough(nullptr)) return;
    }
  }
#endif
}

/// The search depth of a predicate that looks into nested exceptions.
struct Chain {
  template <class Look>
  static void look_into(const Thrown& outermost, Look&& look) {
    detail::look_into(outermost, look);
  }
};

}  // namespace detail

/// Retries if the predicate matches the exception or one nested in it. Hints and registered names are taken from the whole chain
/// too, outermost first. Returned values are passed to the predicate unchanged. (B5, E5)
///   AlsoNested{RetryOn<TimeoutError>{} || RetryOnTransientErrorCode{}}
/// The policy's never-lists, `Unretryable` and `Cancelled` are then searched just as deep, whatever other predicates it is
/// combined with, and they win. A nested `operation_canceled` is a cancellation, unless its wrapper itself is matched. (B4)
/// Each level is examined by rethrowing: about two more throws per level, on failures only.
template <Predicate P>
struct AlsoNested {
  using role = encore::role::Predicate;
  static constexpr bool looks_at_values = encore::looks_at_values<P>;
  static constexpr bool types_only = detail::types_only<P>;
  using Depth = detail::Chain;
  [[no_unique_address]] P predicate;

  constexpr AlsoNested()
    requires std::default_initializable<P>
      : predicate{} {}
  constexpr explicit AlsoNested(P of) : predicate(std::move(of)) {}

  template <class Failed>
    requires Judges<P, Failed>
  bool matches(const Failed& failure) const {
    return opinion(failure) == detail::Opinion::yes;
  }
  detail::Opinion opinion(const Thrown& failure) const
    requires JudgesExceptions<P>
  {
    auto said = detail::Opinion::none;
    detail::look_into(failure, [&](const Thrown& link) {
      const auto of_link = detail::opinion_of(predicate, link);
      if (of_link != detail::Opinion::none) said = of_link;
      return said == detail::Opinion::yes;
    });
    return said;
  }
  template <class Value>
    requires JudgesValues<P, Value>
  detail::Opinion opinion(const Returned<Value>& failure) const {
    return detail::opinion_of(predicate, failure);
  }
  template <class Never>
  static constexpr bool can_retry = detail::can_retry<P, Never>;
  bool matches_by_itself(const Thrown& failure) const {
    return detail::matches_by_itself(predicate, failure);
  }
  template <class Failed>
  bool names_failure(const Failed& failure) const {
    return detail::names_failure(predicate, failure);
  }

  template <class V>
  static consteval detail::Kinds kinds() {
    return detail::kinds_of<P, V>();
  }
  template <class V>
  static consteval void refuse_misfit() {
    detail::refuse_misfits_of<P, V>();
  }

  std::optional<Duration> hint(const Thrown& failure, const Now& now) const
    requires requires(const P& p) { p.hint(failure, now); }
  {
    auto found = detail::no_hint;
    detail::look_into(failure, [&](const Thrown& link) {
      found = predicate.hint(link, now);
      return found.has_value();
    });
    return found;
  }
  std::string_view name(const Thrown& failure) const
    requires requires(const P& p) { p.name(failure); }
  {
    std::string_view found;
    detail::look_into(failure, [&](const Thrown& link) {
      found = predicate.name(link);
      return !found.empty();
    });
    return found;
  }
};

/// Retries exceptions of these types, and exceptions that have one of them nested inside. (B5)
template <class... E>
using RetryOnNested = AlsoNested<RetryOn<E...>>;

static_assert(Predicate<RetryOnNested<std::exception>>);

}  // namespace encore ENCORE_BUILD

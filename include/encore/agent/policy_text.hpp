// What a policy retries, as a short text that changes when the policy does.
#pragma once
#include <encore/detail/extremes.hpp>
#include <encore/detail/pack.hpp>
#include <encore/detail/seconds_text.hpp>
#include <encore/engine/policy_parts.hpp>
#include <encore/error_name.hpp>
#include <encore/error_type.hpp>
#include <encore/never_retry.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

namespace encore ENCORE_BUILD {

namespace detail {

template <class E>
std::string error_type_text() {
  if constexpr (!error_name<E>.empty())
    return std::string{error_name<E>};
  else
#if defined(__cpp_rtti)
    return type_name(typeid(E));
#else
    return "an error type";
#endif
}

/// A type's name without its template arguments and without the namespace encore.
template <class T>
std::string short_type_text() {
#if defined(__cpp_rtti)
  auto name = type_name(typeid(T));
  name.erase(shared::smaller_of(name.find('<'), name.size()));
  if (name.starts_with("encore::")) name.erase(0, std::string_view{"encore::"}.size());
  return name;
#else
  return "a predicate";
#endif
}

template <class... E>
std::string listed(std::string_view template_name) {
  std::string text{template_name};
  text += '<';
  ((text.append(text.ends_with('<') ? "" : ", ").append(error_type_text<E>())), ...);
  return text += '>';
}

template <class P>
struct PredicateText {
  static std::string of() { return short_type_text<P>(); }
};
template <class... E>
struct PredicateText<RetryOn<E...>> {
  static std::string of() { return listed<E...>("RetryOn"); }
};
template <class... E>
struct PredicateText<NeverRetry<E...>> {
  static std::string of() { return listed<E...>("NeverRetry"); }
};
template <class L, class R>
struct PredicateText<EitherPredicate<L, R>> {
  static std::string of() { return "(" + PredicateText<L>::of() + " || " + PredicateText<R>::of() + ")"; }
};
template <class L, class R>
struct PredicateText<BothPredicates<L, R>> {
  static std::string of() { return "(" + PredicateText<L>::of() + " && " + PredicateText<R>::of() + ")"; }
};
template <class P>
struct PredicateText<NotPredicate<P>> {
  static std::string of() { return "!" + PredicateText<P>::of(); }
};

}  // namespace detail

/// What the policy retries, what it never retries, and within which time; functions are only listed. For tables and tests, so
/// that a wider filter is noticed. Types have their registered names, or else their own.
///   RetryOn<TimeoutError, ConnectionError>, NeverRetry<QuotaSpent>, within 5 s
template <class Policy>
std::string policy_text(const Policy& policy) {
  auto text = detail::PredicateText<typename Policy::PredicateType>::of();
  [&]<class... N>(const detail::Pack<detail::Storage<N>...>&) {
    ((text += ", " + detail::PredicateText<std::remove_cvref_t<N>>::of()), ...);
  }(policy_parts(policy).never());
  if constexpr (detail::PartsOf<Policy>::handles_unmatched) text += ", HandleUnmatched";
  const auto add = [&](std::string_view words, const std::optional<Duration>& span) {
    if (!span) return;
    append_seconds(text.append(words), *span);
    text += " s";
  };
  add(", within ", policy.time_budget());
  add(", each attempt at most ", policy.attempt_timeout());
  return text;
}

}  // namespace encore ENCORE_BUILD

// The operators that join and negate predicates. What they make is in <encore/combined_predicates.hpp>.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/predicate.hpp>

#include <utility>

namespace encore ENCORE_BUILD {

template <class L, class R>
struct EitherPredicate;
template <class L, class R>
struct BothPredicates;
template <class P>
struct NotPredicate;

namespace detail {
template <class Combined, class... P>
constexpr auto combined(P&&... predicates) {
  constexpr bool known = requires { sizeof(Combined); };
  static_assert(known, "predicates are joined, or negated, with: #include <encore/combined_predicates.hpp>");
  if constexpr (known) return Combined{{std::move(predicates)...}};
}
}  // namespace detail

/// Retries what either would: `RetryOn<TimeoutError>{} || RetryIfResult{is_busy}`. (B6)
template <Predicate L, Predicate R>
constexpr auto operator||(L left, R right) {
  return detail::combined<EitherPredicate<L, R>>(std::move(left), std::move(right));
}
/// Retries what both would.
template <Predicate L, Predicate R>
constexpr auto operator&&(L left, R right) {
  return detail::combined<BothPredicates<L, R>>(std::move(left), std::move(right));
}
/// Retries what it has an opinion on and would not retry: `!RetryOn<InvalidArgument>{}` is every exception but these, `!RetryIf{…}`
/// what its function was asked about and said no to. (B9)
template <Predicate P>
constexpr auto operator!(P predicate) {
  return detail::combined<NotPredicate<P>>(std::move(predicate));
}

}  // namespace encore ENCORE_BUILD

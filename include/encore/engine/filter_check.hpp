// Which results of a callable a policy's tests are asked about; a test that can never be asked does not compile.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/pack.hpp>
#include <encore/engine/asked_kinds.hpp>
#include <encore/engine/predicate_parts.hpp>
#include <encore/option.hpp>
#include <encore/predicate.hpp>

#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::detail {

template <class Policy>
using failure_test_of = std::remove_cvref_t<decltype(std::declval<const Policy&>().failure_test())>;
/// True if a test is asked about such a returned value. Whether one that is not retried is a failure only matters where failures
/// are reported. (B8)
template <class Policy, class Value, bool reports_failures = Policy::reports_failures>
inline constexpr bool judges_value = JudgesValues<typename Policy::PredicateType, Value> ||
                                     (reports_failures && JudgesValues<failure_test_of<Policy>, Value>);

// For the compiler's message: the type that a filter's test names, else the filter.
template <class Filter>
struct what_it_asks_about : std::type_identity<Filter> {};
template <class Filter>
  requires requires { typename Filter::Tested; }
struct what_it_asks_about<Filter> : std::type_identity<typename Filter::Tested> {};
template <class Asked, class Filter, class V>
concept CanBeAskedAbout = kinds_of<Filter, V>().any();
template <class Asked, class Filter, class V>
consteval void refuse_if_never_asked() {
  static_assert(
      CanBeAskedAbout<Asked, Filter, V>,
      "this filter can never be asked about this callable: a test on returned values is asked about what the "
      "callable returns, of the very type that it takes, and without exceptions no other test is asked");
}

/// Is each test of the policy asked where its author meant it to be, and its filter at all, under a callable that returns `V`?
/// Always true: the compile errors are inside. (B9)
template <class Policy, class V>
consteval bool filter_fits() {
  using Filter = typename Policy::PredicateType;
  refuse_misfits_of<Filter, V>();
  refuse_misfits_of<std::remove_cvref_t<decltype(std::declval<const Policy&>().hint_source())>, V>();
  refuse_misfits_of<failure_test_of<Policy>, V>();
  []<class... N>(const Pack<Storage<N>...>*) {
    (refuse_misfits_of<std::remove_cvref_t<N>, V>(), ...);
  }(static_cast<std::remove_cvref_t<decltype(std::declval<const Policy&>().never())>*>(nullptr));
  refuse_if_never_asked<typename what_it_asks_about<Filter>::type, Filter, V>();
  return true;
}

}  // namespace ENCORE_BUILD::detail

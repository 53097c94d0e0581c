// The less common jitters: equal and decorrelated.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/detail/extremes.hpp>
#include <encore/duration.hpp>
#include <encore/jitter.hpp>
#include <encore/option.hpp>

namespace encore ENCORE_BUILD {

/// Uniform from half the delay to the delay. (AWS Architecture Blog, 2015: equal jitter)
struct EqualJitter {
  using role = encore::role::Jitter;
  static constexpr bool looks_back = false;
  static constexpr bool looks_at_initial = false;

  constexpr Duration operator()(const JitterInput& input) const noexcept {
    return nearest_duration(detail::count(input.delay) * (0.5 + 0.5 * input.draw));
  }
};
static_assert(Jitter<EqualJitter>);

/// Uniform between the initial delay and three times the previous wait, limited to the cap before the draw: so waits do not
/// pile up at the cap, as they do with the original formula (AWS Architecture Blog, 2015). It uses only the backoff's first
/// delay and cap. (C2, C9)
struct DecorrelatedJitter {
  using role = encore::role::Jitter;
  static constexpr bool looks_at_delay = false;

  constexpr Duration operator()(const JitterInput& input) const noexcept {
    const double cap = detail::count(input.cap),
                 least = shared::smaller_of(detail::count(input.initial), cap);
    const double most = shared::smaller_of(3.0 * detail::count(input.previous), cap);
    return detail::between(least, shared::larger_of(least, most), input.draw);
  }
};
static_assert(Jitter<DecorrelatedJitter>);

}  // namespace encore ENCORE_BUILD

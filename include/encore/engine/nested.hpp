// What every policy knows of policies inside policies, whether it notices them or not.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/option.hpp>

#include <cstdint>

namespace encore {

class Attempt;

/// What a policy does when it runs inside an attempt of another. (J1)
enum class Nested : std::uint8_t {
  allow,
  report,       ///< its events name the outer attempt
  make_single,  ///< and it makes one attempt only, whose failure propagates unchanged to the outer policy
};
struct WhenNested;
struct NestingUnnoticed {
  using role = encore::role::Nesting;
  static constexpr auto choice = Nested::allow;
};
struct OnFibers;
struct OnThreads {
  using role = encore::role::Fibers;
  static constexpr bool on = false;
};

namespace shared {

/// An attempt that is marked on its thread while it runs, by a policy that notices nesting.
struct MarkedAttempt {
  const Attempt* attempt;
};
/// The marks of this thread, the innermost first. (L1)
ENCORE_ONE_PER_PROCESS inline constinit thread_local MarkedAttempt* innermost_mark = nullptr;

}  // namespace shared
}  // namespace encore

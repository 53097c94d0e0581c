// What each of the two translation units tells the other, and a policy that both have. They are linked into one program, or
// (TWO_LIBRARIES) are a program and a shared library that hide their symbols from each other.
#pragma once
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>

#include <stdexcept>
#include <string>

/// One object in the whole program, whose type is made of library types alone.
inline const encore::RetryPolicy shared_policy{encore::RetryOn<std::runtime_error>{}, encore::MaxRetries{2},
                                               encore::ConstantBackoff{.delay = encore::Duration::zero()},
                                               encore::WhenNested{encore::Nested::make_single}};

struct Unit {
  const void* policy;
  const void* version;
  encore::Scope process_scope;
  /// The id that a call gets when it is made there without one.
  std::string (*made_id)();
  std::uint64_t (*stream)();
  /// How many attempts a call makes there that always fails.
  int (*attempts)();
};

#if defined(_MSC_VER)
Unit other_unit();
#else
[[gnu::visibility("default")]] Unit other_unit();  // also from a shared library that hides all else
#endif

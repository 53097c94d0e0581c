// EXPECT FIRST: wrap keeps a copy of its callable, and this named one can only be moved: policy.wrap(std::move(callable))
#include <encore/retry_policy.hpp>
#include <encore/wrapped.hpp>

#include <memory>
#include <utility>

int test(const encore::RetryPolicy<encore::SteadyClock, encore::RetryOnEveryException>& policy) {
  auto lookup = [units = std::make_unique<int>(17)] { return *units; };
#ifdef ENCORE_FIXED
  const auto patient = policy.wrap("lookup", std::move(lookup));
#else
  const auto patient = policy.wrap("lookup", lookup);
#endif
  return patient();
}

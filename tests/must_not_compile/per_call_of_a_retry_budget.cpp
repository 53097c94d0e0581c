// EXPECT: this guard counts retries, so it cannot be asked once for each call
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/guard/retry_budget.hpp>

#ifdef ENCORE_FIXED
inline encore::CircuitBreaker shared;
#else
inline encore::RetryBudget shared;
#endif
inline encore::PerCall calls{shared};

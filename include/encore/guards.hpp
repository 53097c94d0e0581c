// Guards that keep retries from making an outage worse: circuit breakers, retry budgets and retry quotas.
#pragma once
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/circuit_breakers.hpp>
#include <encore/guard/per_call.hpp>
#include <encore/guard/retry_budget.hpp>
#include <encore/guard/retry_quota.hpp>

// The core of encore: everything that a retrying program needs, and nothing that is dear to include.
#pragma once
#include <encore/any_retry_policy.hpp>
#include <encore/backoff_shapes.hpp>
#include <encore/never_retry.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_on_error_code.hpp>
#include <encore/retry_on_nested.hpp>
#include <encore/retry_policy.hpp>
#include <encore/retry_settings.hpp>
#include <encore/retrying.hpp>
#include <encore/schedule.hpp>
#include <encore/stop_token.hpp>
#include <encore/version.hpp>

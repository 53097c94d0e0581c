// The sections of the page: each an element of HTML, with its charts and the same in numbers.
#pragma once
#include "options.hpp"

#include <string>

/// How long a call waits before each retry.
std::string delay_section(const Options& options);

/// What becomes of clients that contend for one row, with the strategies of the AWS Architecture Blog and with this policy.
std::string contention_section(const Options& options);

/// What comes to a backend through an outage, with this policy alone, with a budget and with a breaker.
std::string outage_section(const Options& options);

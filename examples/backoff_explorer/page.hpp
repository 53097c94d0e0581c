// A page that shows what a policy does: to the caller, among others who contend, and to a backend that is in trouble.
#pragma once
#include "options.hpp"

#include <string>

/// The whole page: needs no network, no script and no other file. Simulates for a second or two; the same options give the same.
std::string page(const Options& options);

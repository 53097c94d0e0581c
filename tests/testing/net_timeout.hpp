// An exception of a client, as the texts of recorded calls name it.
#pragma once
#include <stdexcept>

namespace net {
struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace net

// The permit of a guard that has nothing to give back.
#pragma once
#include <encore/clock.hpp>

namespace encore_tests {

struct EmptyPermit {
  EmptyPermit() = default;
  EmptyPermit(EmptyPermit&&) = default;
  EmptyPermit& operator=(EmptyPermit&&) = default;
  void succeeded(const encore::Now&) const noexcept {}
  void failed(const encore::Now&, bool) const noexcept {}
};

}  // namespace encore_tests

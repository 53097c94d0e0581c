// What a policy decides by, as one number: equal for two processes, or two releases, that retry alike.
#pragma once
#include <encore/detail/hexadecimal.hpp>
#include <encore/detail/random.hpp>
#include <encore/duration.hpp>
#include <encore/jitter.hpp>
#include <encore/schedule.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

namespace encore ENCORE_BUILD {

/// 64 bits that almost certainly differ between policies with another count limit, time budget, least attempt time, hint cap,
/// share of jitter, or minimum, median or maximum of their first eight waits. Predicates, guards, observers and failure
/// strategies are code, and do not count. Equal policies have equal fingerprints in every process. `text()` is 16 lower-case
/// hexadecimal digits.
class Fingerprint {
 public:
  constexpr explicit Fingerprint(std::uint64_t bits) noexcept : bits_{bits} {}

  template <class Policy>
  static constexpr Fingerprint of(const Policy& policy) {
    constexpr auto waits_looked_at = 8;
    Fingerprint print{0};
    print.add(policy.max_retries());
    print.add(policy.time_budget().value_or(Duration{-1}).count());
    print.add(policy.min_attempt_time().count());
    print.add(policy.hint_cap().count());
    print.add(std::bit_cast<std::int64_t>(hint_share_of(policy.jitter())));
    for (const auto& wait : policy.schedule(waits_looked_at)) {
      print.add(wait.min.count());
      print.add(wait.median.count());
      print.add(wait.max.count());
    }
    return print;
  }

  constexpr std::uint64_t bits() const noexcept { return bits_; }
  std::string text() const { return detail::hexadecimal(bits_); }
  friend constexpr bool operator==(const Fingerprint&, const Fingerprint&) noexcept = default;

 private:
  // Each word is mixed before the next one is added, so that their order matters.
  constexpr void add(std::int64_t word) noexcept {
    bits_ = shared::mix((bits_ + 0x9e3779b97f4a7c15U) ^ shared::mix(static_cast<std::uint64_t>(word)));
  }
  std::uint64_t bits_;
};

}  // namespace encore ENCORE_BUILD

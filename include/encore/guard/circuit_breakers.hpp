// One circuit breaker for each call name, made when the name is first seen.
#pragma once
#include <encore/attributes.hpp>
#include <encore/guard/circuit_breaker.hpp>
#include <encore/guard/guard.hpp>
#include <encore/ingredient.hpp>
#include <encore/setting.hpp>
#include <encore/stop_reason.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

struct CircuitBreakersOptions {
  CircuitBreakerOptions each{};
  /// Names beyond these share one breaker, so that neither memory nor a storm grows without a bound; they open together.
  /// 256: more tools than an agent has, about 64 kB.
  Count<"most_names", 1> most_names = 256;
};

/// A circuit breaker for each call name: one tool's outage does not bar the way for the others. (H3)
///   CircuitBreakers breakers{{.each = {.failures_to_open = 3}}};
///   breakers["ship"].force_open();
/// Thread-safe. A name is looked up without a lock or a write; a lock is taken when it is first seen. Breakers are never
/// removed, so references to them stay valid. Names are call names, never call ids.
class CircuitBreakers {
 public:
  using role = encore::role::Guard;
  using Permit = CircuitBreaker::Permit;
  static constexpr StopReason refusal = CircuitBreaker::refusal;

  CircuitBreakers() : CircuitBreakers{CircuitBreakersOptions{}} {}
  explicit CircuitBreakers(const CircuitBreakersOptions& options)
      : options_{options},
        chains_(std::bit_ceil(static_cast<std::size_t>(options.most_names))),
        rest_{options.each} {}
  CircuitBreakers(const CircuitBreakers&) = delete;
  CircuitBreakers& operator=(const CircuitBreakers&) = delete;
  ~CircuitBreakers() {
    for (auto& chain : chains_) delete_all(chain.load(std::memory_order_relaxed));
  }

  std::optional<Permit> admit(const AdmissionRequest& request) {
    return (*this)[request.call_name].admit(request);
  }

  /// The breaker of a name, made if there is none yet.
  CircuitBreaker& operator[](std::string_view name) {
    auto& chain = chain_of(name);
    if (auto* const known = find(chain, name)) return known->breaker;
    return add(chain, name);
  }

  /// `closed` for a name that was never seen.
  CircuitState state(std::string_view name, const Now& now) const {
    if (const auto* const known = find(chain_of(name), name)) return known->breaker.state(now);
    return rest_.state(now);  // closed as long as nobody has to share it
  }

  /// Calls `use(std::string_view name, CircuitBreaker&)` for every name that has a breaker of its own, in no order.
  template <class Use>
  void for_each(Use&& use) {
    for (auto& chain : chains_)
      for (auto* entry = chain.load(std::memory_order_acquire); entry != nullptr; entry = entry->next)
        use(std::string_view{entry->name}, entry->breaker);
  }

 private:
  // An entry never changes once others can see it, and a chain only grows at its head: readers need no lock.
  struct Entry {
    Entry(std::string_view called, const CircuitBreakerOptions& options, Entry* others)
        : name{called},
          breaker{options},
          next{others} {}
    const std::string name;
    CircuitBreaker breaker;
    Entry* const next;
  };
  using Chain = std::atomic<Entry*>;

  static void delete_all(Entry* entry) {
    while (entry != nullptr) {
      const std::unique_ptr<Entry> last{entry};
      entry = last->next;
    }
  }
  Chain& chain_of(std::string_view name) const noexcept {
    return chains_[std::hash<std::string_view>{}(name) & (chains_.size() - 1)];
  }
  static Entry* find(const Chain& chain, std::string_view name) noexcept {
    auto* entry = chain.load(std::memory_order_acquire);
    while (entry != nullptr && entry->name != name) entry = entry->next;
    return entry;
  }

  ENCORE_COLD CircuitBreaker& add(Chain& chain, std::string_view name) {
    if (is_full()) {
      auto* const known = find(chain, name);
      return known != nullptr ? known->breaker : rest_;
    }
    const std::lock_guard lock{mutex_};
    if (auto* const known = find(chain, name)) return known->breaker;
    if (is_full()) return rest_;
    auto* const entry = new Entry{name, options_.each, chain.load(std::memory_order_relaxed)};
    chain.store(entry, std::memory_order_release);
    names_.fetch_add(1, std::memory_order_release);
    return entry->breaker;
  }
  bool is_full() const noexcept { return names_.load(std::memory_order_acquire) >= options_.most_names; }

  const CircuitBreakersOptions options_;
  mutable std::vector<Chain> chains_;
  std::mutex mutex_;  // held while an entry is added
  std::atomic<int> names_{0};
  CircuitBreaker rest_;
};
static_assert(Guard<CircuitBreakers>);

}  // namespace encore

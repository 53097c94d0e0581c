// Clients that contend for one row: the model of "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
#pragma once
#include "hops.hpp"
#include "sample.hpp"
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace simulation {

enum class Write : std::uint8_t { done, stale };

struct WasStale {
  bool operator()(Write write) const noexcept { return write == Write::stale; }
};

/// One row with a version: a write is done if it brings the version that the row has now, else it is stale.
class Row {
 public:
  int read() const noexcept { return version_; }
  Write write(int version) noexcept {
    ++writes_;
    if (version != version_) return Write::stale;
    ++version_;
    return Write::done;
  }
  int writes() const noexcept { return writes_; }

 private:
  int version_ = 0;
  int writes_ = 0;
};

struct Contended {
  int writes = 0;           ///< tries to write, of all clients together
  encore::Duration time{};  ///< until the last client has its last answer
};

/// One trial: the clients begin at 0, and each reads the row and writes it back, under the policy, until its write is done.
/// A try takes four hops: there and back for the read, there and back for the write.
template <class Policy>
class Contention {
 public:
  /// `clock` is the policy's.
  Contention(const Policy& policy, encore::testing::FakeClock& clock, std::uint64_t seed)
      : policy_{policy},
        clock_{clock},
        hops_{seed} {}

  Contended run(int clients) {
    for (int number = 0; number < clients; ++number) {
      auto& client = clients_.emplace_back(policy_, number);
      if (client.retrying.begin().goes_on()) {
        ++under_way_;
        read(client);
      }
    }
    while (under_way_ > 0) clock_.advance(encore::max_wait);
    return {row_.writes(), time_};
  }

 private:
  struct Client {
    Client(const Policy& policy, int number)
        : id{std::to_string(number)},
          retrying{policy, encore::Call{.id = id}} {}
    std::string id;
    encore::Retrying<Policy> retrying;
    int version = 0;
    Write write = Write::stale;
  };

  void read(Client& client) {
    clock_.after(hops_.next(), [this, &client] {
      client.version = row_.read();
      clock_.after(hops_.next() + hops_.next(), [this, &client] { write(client); });
    });
  }
  void write(Client& client) {
    client.write = row_.write(client.version);
    clock_.after(hops_.next(), [this, &client] { answered(client); });
  }
  void answered(Client& client) {
    time_ = clock_.now() - encore::TimePoint{};
    const auto next = client.retrying.returned(client.write);
    if (!next.goes_on()) {
      --under_way_;
      return;
    }
    clock_.after(next.wait, [this, &client] {
      if (client.retrying.resume().goes_on())
        read(client);
      else
        --under_way_;
    });
  }

  const Policy& policy_;
  encore::testing::FakeClock& clock_;
  Hops hops_;
  Row row_;
  std::deque<Client> clients_;
  int under_way_ = 0;
  encore::Duration time_{};
};

/// One trial with a policy of these waits, and retries without a limit. The same seed gives the same trial.
template <encore::Backoff Backoff, encore::Jitter Jitter>
Contended contend(const Backoff& backoff, const Jitter& jitter, int clients, std::uint64_t seed) {
  encore::testing::FakeClock clock;
  const encore::RetryPolicy policy{encore::RetryIfResult{WasStale{}},
                                   encore::UnlimitedRetries{},
                                   backoff,
                                   jitter,
                                   encore::Seed{seed},
                                   clock};
  return Contention{policy, clock, encore::shared::mix(seed)}.run(clients);
}

struct ContentionSample {
  Sample writes;
  Sample milliseconds;
};

template <encore::Backoff Backoff, encore::Jitter Jitter>
ContentionSample contend(const Backoff& backoff, const Jitter& jitter, int clients, int trials,
                         std::uint64_t seed) {
  ContentionSample sample;
  for (int trial = 0; trial < trials; ++trial) {
    const auto [writes, time] = contend(backoff, jitter, clients, seed + static_cast<std::uint64_t>(trial));
    sample.writes.add(writes);
    sample.milliseconds.add(std::chrono::duration<double, std::milli>{time}.count());
  }
  return sample;
}

}  // namespace simulation

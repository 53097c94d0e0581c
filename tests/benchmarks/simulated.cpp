// Attempts on fake time, as a simulation makes them, against a bare event loop with the same model: gate P14.
#include "measure.hpp"
#include "simulation/strategies.hpp"
#include <encore/encore.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace benchmarks;

namespace {

// The same trial as simulation::Contention's with full jitter, as one would write it for itself: a heap of small events, the
// time in nanoseconds, the waits in a line. Draws and hops come from the same generators.
class BareContention {
 public:
  explicit BareContention(std::uint64_t seed) : hops_{encore::shared::mix(seed)}, random_{seed} {}

  std::int64_t run(int clients) {
    clients_.resize(static_cast<std::size_t>(clients));
    for (int client = 0; client < clients; ++client) begin_try(client, 0);
    while (!events_.empty()) {
      std::pop_heap(events_.begin(), events_.end(), Event::is_later);
      const Event event = events_.back();
      events_.pop_back();
      happen(event);
    }
    return writes_;
  }

 private:
  enum class Step : std::uint8_t { try_begins, read_arrives, write_arrives, answer_arrives };
  struct Event {
    std::int64_t time;
    std::int64_t number;  // of two at the same time, the one that was scheduled first comes first
    int client;
    Step step;
    static bool is_later(const Event& a, const Event& b) noexcept {
      return std::tie(a.time, a.number) > std::tie(b.time, b.number);
    }
  };
  struct Client {
    int version = 0;
    bool done = false;
    std::int64_t most_wait = initial_wait;
  };
  static constexpr std::int64_t initial_wait = 10'000'000, cap = 2'000'000'000;

  void schedule(std::int64_t time, int client, Step step) {
    events_.push_back({time, number_++, client, step});
    std::push_heap(events_.begin(), events_.end(), Event::is_later);
  }
  void begin_try(int client, std::int64_t time) {
    schedule(time + hops_.next().count(), client, Step::read_arrives);
  }
  void happen(const Event& event) {
    auto& client = clients_[static_cast<std::size_t>(event.client)];
    switch (event.step) {
      case Step::try_begins: return begin_try(event.client, event.time);
      case Step::read_arrives:
        client.version = version_;
        return schedule(event.time + (hops_.next() + hops_.next()).count(), event.client,
                        Step::write_arrives);
      case Step::write_arrives:
        ++writes_;
        client.done = client.version == version_;
        if (client.done) ++version_;
        return schedule(event.time + hops_.next().count(), event.client, Step::answer_arrives);
      case Step::answer_arrives:
        if (client.done) return;
        const auto wait = static_cast<std::int64_t>(static_cast<double>(client.most_wait) * random_.draw());
        client.most_wait = std::min(cap, 2 * client.most_wait);
        return schedule(event.time + wait, event.client, Step::try_begins);
    }
  }

  simulation::Hops hops_;
  encore::shared::Random random_;
  std::vector<Client> clients_;
  std::vector<Event> events_;
  std::int64_t number_ = 0;
  int version_ = 0;
  std::int64_t writes_ = 0;
};

}  // namespace

int main() {
  // With few clients a bare loop's heap is next to empty, while a clock that threads may share costs the same.
  for (const int clients : {10, 100}) {
    const auto path = "a trial of " + std::to_string(clients) + " clients that contend";
    measure(
        "P14", path, "hand",
        [&](int trial) { return BareContention{static_cast<std::uint64_t>(trial)}.run(clients); }, 40);
    measure(
        "P14", path, "encore",
        [&](int trial) {
          return simulation::with_strategy("full", [&](const auto& backoff, const auto& jitter) {
            const auto seed = static_cast<std::uint64_t>(trial);
            return std::int64_t{simulation::contend(backoff, jitter, clients, seed).writes};
          });
        },
        40);
  }
}

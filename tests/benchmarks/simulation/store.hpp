// A backend that can be overloaded, and the calls that come to it, on fake time.
#pragma once
#include <encore/encore.hpp>
#include <encore/testing/fake_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace simulation {

enum class Answer : std::uint8_t { in_time, timed_out };

struct TimedOut {
  bool operator()(Answer answer) const noexcept { return answer == Answer::timed_out; }
};

struct StoreOptions {
  double requests_per_second = 300;
  encore::Duration outage_begins = std::chrono::seconds{10};
  encore::Duration outage_lasts = std::chrono::seconds{10};
};

/// Works requests off one after another, as they came, and none during its outage. It is not told that a caller has given up,
/// so it works off those requests too: this is what makes an overload last. (Bronson et al., Metastable Failures in
/// Distributed Systems, HotOS 2021)
class Store {
 public:
  explicit Store(const StoreOptions& options)
      : one_request_{encore::nearest_duration(1e9 / options.requests_per_second)},
        outage_begins_{encore::TimePoint{options.outage_begins}},
        outage_ends_{outage_begins_ + options.outage_lasts} {}

  /// A request arrives: when is it answered?
  encore::TimePoint arrival(encore::TimePoint now) noexcept {
    auto begin = std::max(now, free_at_);
    if (begin >= outage_begins_ && begin < outage_ends_) begin = outage_ends_;
    return free_at_ = begin + one_request_;
  }

 private:
  encore::Duration one_request_;
  encore::TimePoint outage_begins_, outage_ends_;
  encore::TimePoint free_at_{};
};

/// What comes to the backend, and how long its callers wait for an answer.
struct Traffic {
  double calls_per_second = 280;
  encore::Duration timeout = std::chrono::seconds{1};
  encore::Duration lasts = std::chrono::seconds{60};
};

/// What happened in one second.
struct Second {
  int calls = 0;             ///< that began
  int requests = 0;          ///< that arrived at the backend: first attempts and retries
  int answered_in_time = 0;  ///< before their caller gave up: the goodput
};

/// Calls under one policy that come at even distances, each with an own wait for its retries.
template <class Policy>
class Load {
 public:
  /// `clock` is the policy's.
  Load(const Policy& policy, encore::testing::FakeClock& clock, const StoreOptions& store,
       const Traffic& traffic)
      : policy_{policy},
        clock_{clock},
        store_{store},
        traffic_{traffic},
        seconds_(static_cast<std::size_t>(std::chrono::ceil<std::chrono::seconds>(traffic.lasts).count())) {}

  /// Second by second, from the first call on.
  std::vector<Second> run() {
    call_begins();
    clock_.advance(traffic_.lasts);
    return seconds_;
  }

 private:
  struct Caller {
    Caller(const Policy& policy, int number)
        : id{std::to_string(number)},
          retrying{policy, encore::Call{.id = id}} {}
    std::string id;
    encore::Retrying<Policy> retrying;
    Answer answer = Answer::timed_out;
  };
  using Place = typename std::list<Caller>::iterator;

  void call_begins() {
    ++this_second().calls;
    const auto caller = callers_.emplace(callers_.end(), policy_, ++calls_);
    go_on(caller, caller->retrying.begin());
    const auto next = encore::nearest_duration(1e9 * calls_ / traffic_.calls_per_second);
    if (next < traffic_.lasts) clock_.at(encore::TimePoint{next}, [this] { call_begins(); });
  }
  void go_on(Place caller, const encore::Decision& decision) {
    if (!decision.goes_on()) {
      callers_.erase(caller);
      return;
    }
    ++this_second().requests;
    const auto time = store_.arrival(clock_.now()) - clock_.now();
    caller->answer = time <= traffic_.timeout ? Answer::in_time : Answer::timed_out;
    clock_.after(std::min(time, traffic_.timeout), [this, caller] { attempt_ends(caller); });
  }
  void attempt_ends(Place caller) {
    if (caller->answer == Answer::in_time) ++this_second().answered_in_time;
    const auto decision = caller->retrying.returned(caller->answer);
    if (!decision.goes_on()) {
      callers_.erase(caller);
    } else {
      clock_.after(decision.wait, [this, caller] { go_on(caller, caller->retrying.resume()); });
    }
  }
  Second& this_second() {
    const auto now = clock_.now() - encore::TimePoint{};
    const auto second = static_cast<std::size_t>(std::chrono::floor<std::chrono::seconds>(now).count());
    return seconds_[std::min(second, seconds_.size() - 1)];
  }

  const Policy& policy_;
  encore::testing::FakeClock& clock_;
  Store store_;
  Traffic traffic_;
  std::vector<Second> seconds_;
  std::list<Caller> callers_;
  int calls_ = 0;
};

/// The same in one call, for a policy without a clock of its own.
template <class Policy>
std::vector<Second> load(const Policy& policy, const StoreOptions& store, const Traffic& traffic) {
  encore::testing::FakeClock clock;
  const auto on_fake_time = policy.with(clock);
  return Load{on_fake_time, clock, store, traffic}.run();
}

/// The mean of so many seconds from one on.
struct Rates {
  double calls = 0.0;
  double requests = 0.0;
  double answered_in_time = 0.0;
};
inline Rates rates(const std::vector<Second>& seconds, std::size_t from, std::size_t count) {
  Rates sum;
  for (std::size_t i = from; i < from + count; ++i) {
    sum.calls += seconds.at(i).calls;
    sum.requests += seconds.at(i).requests;
    sum.answered_in_time += seconds.at(i).answered_in_time;
  }
  const auto number = static_cast<double>(count);
  return {sum.calls / number, sum.requests / number, sum.answered_in_time / number};
}

}  // namespace simulation

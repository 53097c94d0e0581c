// encore works with libc++, fmt included, without Catch2. (L4) Before its version 20 it has no `std::stop_token`: any type
// that satisfies `encore::StopToken` will do, and ends a wait at once. (K1)
#include "check.hpp"
#include <encore/encore.hpp>

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <version>

static_assert(_LIBCPP_VERSION > 0, "this test must be built with libc++");

using namespace std::chrono_literals;

namespace {

/// A stop source of the program's own, as an application that has one brings it. Its callbacks come and go under one lock.
class Shutdown {
 public:
  class Token;

  void request() {
    const std::lock_guard lock{mutex_};
    requested_ = true;
    for (const auto& [key, act] : std::exchange(callbacks_, {})) act();
  }

 private:
  template <class F>
  friend class Subscription;
  std::mutex mutex_;
  bool requested_ = false;
  std::map<const void*, std::function<void()>> callbacks_;
};

template <class F>
class Subscription {
 public:
  Subscription(const Shutdown::Token& token, F act);
  Subscription(const Subscription&) = delete;
  ~Subscription() {
    const std::lock_guard lock{shutdown_->mutex_};
    shutdown_->callbacks_.erase(this);
  }

 private:
  Shutdown* shutdown_;
};

class Shutdown::Token {
 public:
  explicit Token(Shutdown& shutdown) : shutdown_{&shutdown} {}
  template <class F>
  using callback_type = Subscription<F>;

  bool stop_requested() const {
    const std::lock_guard lock{shutdown_->mutex_};
    return shutdown_->requested_;
  }
  bool stop_possible() const { return true; }

 private:
  template <class F>
  friend class Subscription;
  Shutdown* shutdown_;
};

template <class F>
Subscription<F>::Subscription(const Shutdown::Token& token, F act) : shutdown_{token.shutdown_} {
  const std::lock_guard lock{shutdown_->mutex_};
  if (shutdown_->requested_)
    act();
  else
    shutdown_->callbacks_.emplace(this, act);
}

static_assert(encore::StopToken<Shutdown::Token>);

struct TimeoutError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void calls_are_retried() {
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::ConstantBackoff{.delay = 0s}};
  auto attempts = 0;
  const auto answer = policy.run({.id = "call-17"}, [&](const encore::Attempt& attempt) {
    if (++attempts < 3) throw TimeoutError{"slow"};
    return std::string{attempt.call_id()};
  });
  check(answer == "call-17" && attempts == 3);
  check(fmt::format("{} after {}", answer, attempts) == "call-17 after 3");

  try {
    policy.run([&] { throw TimeoutError{fmt::format("the {}th", ++attempts)}; });
    check(false);
  } catch (const TimeoutError& error) {
    check(std::string{error.what()} == "the 6th");
  }
}

// The wait of an hour, on the real clock, ends with the request, whether that comes before it or within it.
void a_token_of_another_kind_ends_a_wait() {
  const encore::RetryPolicy policy{encore::RetryOn<TimeoutError>{}, encore::ConstantBackoff{.delay = 1h},
                                   encore::NoJitter{}, encore::ReturnOutcome{}};
  Shutdown shutdown;
  const Shutdown::Token token{shutdown};
  std::optional<std::thread> requester;
  auto attempts = 0;
  const auto outcome = policy.run({.id = "call-17", .stop = token}, [&] {
    ++attempts;
    requester.emplace([&] { shutdown.request(); });
    throw TimeoutError{"slow"};
  });
  requester->join();
  check(!outcome.has_value() && outcome.reason() == encore::StopReason::cancelled);
  check(attempts == 1 && outcome.slept() < 1h && outcome.failure().error != nullptr);

  const auto refused = policy.run({.id = "call-18", .stop = token}, [&] { ++attempts; });
  check(!refused.has_value() && refused.reason() == encore::StopReason::cancelled_on_entry && attempts == 1);
}

}  // namespace

int main() {
  calls_are_retried();
  a_token_of_another_kind_ends_a_wait();
  return failed_checks;
}

// When a server says how long to wait, and when there is no time for it. On a fake clock, so nothing here really waits.
#include <encore/encore.hpp>
#include <encore/http/retry_after.hpp>
#include <encore/telemetry/format.hpp>
#include <encore/testing/fake_clock.hpp>

#include <fmt/core.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using encore::testing::FakeClock;

// Carries the server's wish: a member `retry_after()` is all that the policy looks for.
class ServiceUnavailable : public std::runtime_error {
 public:
  ServiceUnavailable(std::string_view header, encore::WallTime now)
      : runtime_error{"503"},
        retry_after_{encore::http::retry_after(header, now)} {}
  std::optional<encore::Duration> retry_after() const noexcept { return retry_after_; }

 private:
  std::optional<encore::Duration> retry_after_;
};

const encore::RetryPolicy lookup_policy{
    encore::RetryOn<ServiceUnavailable>{},
    encore::MaxRetries{1},
    encore::ConstantBackoff{1s},
    encore::NoJitter{},
    encore::TimeBudget{60s},
    encore::HintCap{120s},  // the default
    encore::ReturnOutcome{},
};

// A server that answers 503 at first, with this header, after this time. The second request would be answered well.
struct Server {
  std::string_view retry_after{};
  encore::Duration takes = 100ms;
};

template <class Policy>
void show(std::string_view what, const Policy& policy, const Server& server,
          std::optional<encore::Duration> deadline = std::nullopt) {
  FakeClock clock;
  encore::Call call{.id = "call-17"};
  if (deadline) call.deadline = clock.now() + *deadline;
  const auto outcome = policy.with(clock).run(call, [&](const encore::Attempt& attempt) {
    clock.advance(server.takes);
    if (attempt.ordinal == 1) throw ServiceUnavailable{server.retry_after, clock.wall()};
  });
  fmt::print("{:<44}{:<22}{:>8}  {}\n", what, outcome.reason(), outcome.attempts(),
             to_string(clock.sleeps()));
}

int main() {
  fmt::print("{:<44}{:<22}{:>8}  {}\n", "", "ended because", "attempts", "slept");
  for (const std::string_view header : {
           "3",                              // in place of the computed second
           "Thu, 01 Jan 2026 00:00:05 GMT",  // by the clock's own calendar
           "0",                              // now
           "soon",                           // no time at all: the computed wait
           "600",                            // over the cap: not waited for, and not shortened either
           "90",                             // within the cap, past the end of the budget
       })
    show(fmt::format("Retry-After: {}", header), lookup_policy, {header});

  show("no hint", lookup_policy, {});
  show("59.5 s of the 60 s budget are gone", lookup_policy, {.takes = 59500ms});
  show("49.5 s are gone, 10 s are the least of use", lookup_policy.with(encore::MinAttemptTime{10s}),
       {.takes = 49500ms});
  show("the caller's own deadline is in 1 s", lookup_policy, {}, 1s);
  show("the caller's own deadline was a second ago", lookup_policy, {}, -1s);
}

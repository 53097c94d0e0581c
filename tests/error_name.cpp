#include <encore/encore.hpp>
#include <encore/error_name.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace encore;

namespace {

struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Unnamed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Policy, class Error>
std::string name_in_events(const Policy& policy, const Error& thrown) {
  std::string name;
  const auto observed = policy.with(MaxRetries{0}, [&](const Event& event) {
    if (event.kind == EventKind::attempt_failed) name = std::string{event.error_name};
  });
  CHECK_THROWS_AS(observed.run({.id = "call-1"}, [&] { throw thrown; }), Error);
  return name;
}

}  // namespace

template <>
inline constexpr std::string_view encore::error_name<TimedOut> = "timeout";

TEST_CASE("a registered name is in the events of its type, and of types derived from it", "[error_name]") {
  struct Slower : TimedOut {
    using TimedOut::TimedOut;
  };
  CHECK(name_in_events(RetryPolicy{RetryOn<TimedOut>{}}, TimedOut{"slow"}) == "timeout");
  CHECK(name_in_events(RetryPolicy{RetryOn<TimedOut>{}}, Slower{"slower"}) == "timeout");
  CHECK(name_in_events(RetryPolicy{RetryOn<Unnamed>{} || RetryOn<TimedOut>{}}, TimedOut{"slow"}) ==
        "timeout");
  CHECK(name_in_events(RetryPolicy{RetryOn<Unnamed, TimedOut>{}}, Unnamed{"other"}).empty());
}

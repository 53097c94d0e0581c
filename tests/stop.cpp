#include <encore/limits.hpp>
#include <encore/never_retry.hpp>
#include <encore/on_failure.hpp>
#include <encore/outcome.hpp>
#include <encore/retry_if.hpp>
#include <encore/retry_policy.hpp>
#include <encore/stop.hpp>
#include <encore/stop_token.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/scripted.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace encore::testing;
using encore::RetryOn, encore::RetryPolicy, encore::StopReason, encore::StopView;

namespace {

struct TimeoutError : std::runtime_error {
  TimeoutError() : std::runtime_error{"slow"} {}
};

// ---- tokens of other libraries (L4) ----------------------------------------------------------------------------------

// As P2300 spells it: one pointer large, its callback type nested.
class OtherSource {
 public:
  void request_stop() {
    stopped_ = true;
    for (const auto& callback : std::exchange(callbacks_, {})) callback.second();
  }
  class Token {
   public:
    explicit Token(OtherSource& source) : source_{&source} {}
    bool stop_requested() const noexcept { return source_->stopped_; }
    bool stop_possible() const noexcept { return true; }
    template <class F>
    class Callback {
     public:
      Callback(Token token, F f) : source_{token.source_} {
        if (source_->stopped_)
          f();
        else
          source_->callbacks_.emplace_back(this, f);
      }
      Callback(const Callback&) = delete;
      Callback& operator=(const Callback&) = delete;
      ~Callback() {
        std::erase_if(source_->callbacks_, [this](const auto& callback) { return callback.first == this; });
      }

     private:
      OtherSource* source_;
    };
    template <class F>
    using callback_type = Callback<F>;

   private:
    OtherSource* source_;
  };
  Token get_token() { return Token{*this}; }
  std::size_t callbacks() const { return callbacks_.size(); }

 private:
  bool stopped_ = false;
  std::vector<std::pair<const void*, std::function<void()>>> callbacks_;
};

static_assert(encore::StopToken<OtherSource::Token>);
static_assert(sizeof(StopView) == 2 * sizeof(void*));

TEST_CASE("a StopView reports what its token does, and one without a token never asks to stop [L4]",
          "[stop]") {
  constexpr StopView none;
  STATIC_CHECK_FALSE(none.watches());
  CHECK_FALSE(none.stop_requested());
  CHECK_FALSE(none.stop_possible());
  std::stop_source source;
  const auto token = source.get_token();
  const StopView view{token};
  CHECK(view.watches());
  CHECK(view.stop_possible());
  CHECK_FALSE(view.stop_requested());
  source.request_stop();
  CHECK(view.stop_requested());
  const std::stop_token of_nobody;
  CHECK_FALSE(StopView{of_nobody}.stop_possible());
}

TEMPLATE_TEST_CASE(
    "a stop subscription is notified once: at the request, or immediately if it was made before [K1, L4]",
    "[stop]", std::stop_source, OtherSource) {
  TestType source;
  const auto token = source.get_token();
  int told = 0;
  const encore::StopAction count{[](void* argument) noexcept { ++*static_cast<int*>(argument); }, &told};
  { const encore::StopSubscription gone{token, count}; }
  {
    const encore::StopSubscription subscription{token, count};
    CHECK(told == 0);
    source.request_stop();
    CHECK(told == 1);
    const encore::StopSubscription late{token, count};
    CHECK(told == 2);
  }
  CHECK(told == 2);
  const encore::StopSubscription of_nothing{StopView{}, count};
  CHECK(told == 2);
}

// ---- calls that are stopped (K) ---------------------------------------------------------------------------------------

const RetryPolicy plain{RetryOn<TimeoutError>{}, encore::NoJitter{}, encore::MaxRetries{5}};

TEMPLATE_TEST_CASE(
    "a stop request ends a wait at once and keeps the last failure (fault 20: openai-node #2580) [K1]",
    "[stop]", std::stop_source, OtherSource) {
  FakeClock clock;
  TestType source;
  const auto token = source.get_token();
  clock.after(1500ms, [&] { source.request_stop(); });
  Scripted<int> tool{always(throws<TimeoutError>())};
  const auto outcome = plain.with(clock, encore::ReturnOutcome{}).run({.stop = token}, tool);
  CHECK(outcome.reason() == StopReason::cancelled);
  CHECK(outcome.attempts() == 2);
  CHECK(outcome.slept() == 1500ms);
  CHECK(outcome.elapsed() == 1500ms);
  CHECK_THROWS_AS(std::rethrow_exception(outcome.failure().error), TimeoutError);
  CHECK(clock.sleeps() == Durations{1s, 500ms});
}

TEST_CASE("every failure strategy is consulted when a call is cancelled [K1, G7]", "[stop]") {
  FakeClock clock;
  Recorder trace;
  std::stop_source source;
  const auto token = source.get_token();
  Scripted<int> tool{always(throws<TimeoutError>())};
  const auto stop_soon = [&] {
    source = std::stop_source{};
    clock.after(500ms, [&] { source.request_stop(); });
    return source.get_token();
  };
  const auto policy = plain.with(clock, trace);
  const auto first = stop_soon();
  CHECK_THROWS_AS(policy.run({.stop = first}, tool), TimeoutError);
  const auto second = stop_soon();
  CHECK(policy
            .with(encore::FormatFailure{[](const encore::Failure& failure) {
              return failure.reason == StopReason::cancelled ? -1 : -2;
            }})
            .run({.stop = second}, tool) == -1);
  CHECK(tool.calls() == 2);
  const auto events = trace.events();
  CHECK(events.back().reason == StopReason::cancelled);
  CHECK(events.back().error_type == "TimeoutError");
}

TEST_CASE("a failed value is kept when its wait is stopped [K1, G1]", "[stop]") {
  FakeClock clock;
  std::stop_source source;
  const auto token = source.get_token();
  clock.after(500ms, [&] { source.request_stop(); });
  const auto policy =
      plain.with(clock, encore::RetryIfResult{[](const std::string& text) { return text.empty(); }});
  Scripted<std::string> tool{always(returns(std::string{}))};
  CHECK(policy.run({.stop = token}, tool).empty());
  CHECK(tool.calls() == 1);
}

TEST_CASE("a stop requested before the first attempt means zero attempts, and has its own reason [K2, G4]",
          "[stop]") {
  FakeClock clock;
  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  Scripted<int> never;
  CHECK_THROWS_AS(plain.with(clock).run({.stop = token}, never), encore::Refused);
  const auto outcome = plain.with(clock, encore::ReturnOutcome{}).run({.stop = token}, never);
  CHECK(outcome.reason() == StopReason::cancelled_on_entry);
  CHECK(outcome.failure().error == nullptr);
  CHECK(never.calls() == 0);
}

TEST_CASE("a stop requested during an attempt lets it finish, and prevents the next [D6, K1, C6]", "[stop]") {
  FakeClock clock;
  std::stop_source source;
  const auto token = source.get_token();
  int attempts = 0;
  const auto policy = plain.with(clock, encore::ReturnOutcome{});
  const auto failed = policy.run({.stop = token}, [&](const encore::Attempt& attempt) {
    ++attempts;
    source.request_stop();
    CHECK(attempt.stop().stop_requested());
    throw TimeoutError{};
  });
  CHECK(failed.reason() == StopReason::cancelled);
  CHECK(attempts == 1);
  CHECK(clock.sleeps().empty());

  std::stop_source other;
  const auto other_token = other.get_token();
  CHECK(policy.run({.stop = other_token}, [&] { return other.request_stop(), 17; }).value() == 17);
}

TEST_CASE("an observer can stop the call between failure and wait [K1]", "[stop]") {
  FakeClock clock;
  std::stop_source source;
  const auto token = source.get_token();
  Scripted<int> tool{always(throws<TimeoutError>())};
  const auto policy = plain.with(clock, encore::Observe{[&](const encore::Event& event) {
                                   if (event.kind == encore::EventKind::attempt_failed) source.request_stop();
                                 }});
  CHECK_THROWS_AS(policy.run({.stop = token}, tool), TimeoutError);
  CHECK(tool.calls() == 1);
  CHECK(clock.total_slept() == 0s);
}

}  // namespace

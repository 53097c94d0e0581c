#include <encore/engine/deferred_cancellation.hpp>

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>

#if defined(__GLIBC__)
#include <pthread.h>

namespace {

using encore::detail::deferring_cancellation;

int cancel_state() {
  int state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  int disabled = 0;
  pthread_setcancelstate(state, &disabled);
  return state;
}

TEST_CASE("after a step a thread can be cancelled as before, however the step ends [B4]",
          "[deferred_cancellation]") {
  deferring_cancellation([] {
    CHECK(cancel_state() == PTHREAD_CANCEL_DISABLE);
    deferring_cancellation([] {});
    CHECK(cancel_state() == PTHREAD_CANCEL_DISABLE);
  });
  CHECK(cancel_state() == PTHREAD_CANCEL_ENABLE);
  CHECK_THROWS_AS(deferring_cancellation([] { throw std::runtime_error{"step"}; }), std::runtime_error);
  CHECK(cancel_state() == PTHREAD_CANCEL_ENABLE);
}

TEST_CASE("a cancellation requested during a step takes effect after it, in a handler too [B4]",
          "[deferred_cancellation]") {
  struct Steps {
    bool met = false, went_on = false;
  } steps;
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void* argument) -> void* {
        auto& its = *static_cast<Steps*>(argument);
        try {
          throw std::runtime_error{"failed"};
        } catch (const std::runtime_error&) {
          deferring_cancellation([&] {
            try {
              pthread_cancel(pthread_self());
              pthread_testcancel();
              its.met = true;
            } catch (...) {
              throw;
            }
          });
          its.went_on = true;
        }
        return nullptr;
      },
      &steps);
  void* result = nullptr;
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(steps.met);
  CHECK(!steps.went_on);
}

}  // namespace
#endif

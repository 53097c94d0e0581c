// LIBRARIES: asio::asio
// A coroutine on Asio's event loop that is retried: nobody's thread waits.
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>

#include <asio.hpp>
#include <fmt/core.h>

#include <exception>
#include <stdexcept>

using namespace std::chrono_literals;

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Stands for a request to a server: too slow twice, then answered.
asio::awaitable<int> look_up(const encore::Attempt& attempt) {
  asio::steady_timer answer{co_await asio::this_coro::executor, 1ms};
  co_await answer.async_wait(asio::use_awaitable);
  fmt::print("{} attempt {}\n", attempt.call_id(), attempt.ordinal);
  if (attempt.ordinal < 3) throw TimeoutError{"no answer"};
  co_return 17;
}

const encore::RetryPolicy lookup_policy{
    encore::RetryOn<TimeoutError>{},
    encore::ExponentialBackoff{.initial_delay = 20ms, .factor = 2.0, .max_delay = 2s},
};

// How to wait on this event loop: all that encore has to be told of it.
asio::awaitable<void> sleep_for(encore::Duration duration) {
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> agent() {
  const int units = co_await encore::co_run(lookup_policy, {.id = "call-17"}, look_up, sleep_for);
  fmt::print("{} units\n", units);
}

int main() {
  asio::io_context loop;
  asio::co_spawn(loop, agent(), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  loop.run();
}

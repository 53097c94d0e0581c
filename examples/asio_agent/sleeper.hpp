// How to wait on Asio's loop: all that encore has to be told of it.
#pragma once
#include <encore/duration.hpp>
#include <encore/stop_token.hpp>

#include <asio.hpp>

#include <memory>

/// Waits on a timer of the loop that the coroutine runs on. A stop request, from any thread, ends the wait in the loop's next
/// turn, and so does a signal on the coroutine's cancellation slot: either is told as `asio::error::operation_aborted`, by
/// which encore knows a cancellation.
struct AsioSleeper {
  asio::awaitable<void> operator()(encore::Duration duration, const encore::StopView& stop) const {
    struct Alarm {
      asio::any_io_executor loop;
      std::shared_ptr<asio::steady_timer> timer;
    };
    const auto loop = co_await asio::this_coro::executor;
    const Alarm alarm{loop, std::make_shared<asio::steady_timer>(loop, duration)};
    const auto cancel = [](void* argument) noexcept {
      const auto& of = *static_cast<const Alarm*>(argument);
      asio::post(of.loop, [timer = of.timer] { timer->cancel(); });
    };
    const encore::StopSubscription subscription{stop, {cancel, const_cast<Alarm*>(&alarm)}};
    co_await alarm.timer->async_wait(asio::use_awaitable);
  }
};

// Which stop tokens a call can have, how to subscribe to them, and how they end the real clock's waits.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/duration.hpp>
#include <encore/stop.hpp>

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <version>
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

namespace encore {

/// The callback type of a stop token: `Token::callback_type<Function>` as in P2300, or a specialisation of this trait for
/// user-defined tokens.
template <class Token, class Function>
struct stop_callback_for {};
template <class Token, class Function>
  requires requires { typename Token::template callback_type<Function>; }
struct stop_callback_for<Token, Function> {
  using type = typename Token::template callback_type<Function>;
};
#if defined(__cpp_lib_jthread)
template <class Function>
struct stop_callback_for<std::stop_token, Function> {
  using type = std::stop_callback<Function>;
};
#endif

/// A token reports whether a stop was requested or is possible, is cheap to copy, and supports callbacks. (L4)
/// `std::stop_token` qualifies; other libraries' tokens do if they have a nested `callback_type`.
template <class T>
concept StopToken = shared::AsksToStop<T> && requires { typename stop_callback_for<T, StopAction>::type; } &&
                    std::copy_constructible<T> &&
                    std::constructible_from<typename stop_callback_for<T, StopAction>::type, T, StopAction>;
#if defined(__cpp_lib_jthread)
static_assert(StopToken<std::stop_token>);
#endif

/// Calls `action` once when a stop is requested, immediately if it already was, and never after the destructor has returned.
/// The action may run on the thread that requests the stop.
class StopSubscription {
 public:
  StopSubscription(const StopView& stop, StopAction action) : operations_{stop.operations_} {
    if (operations_ != nullptr) operations_->subscribe(stop.token_, room_, action);
  }
  StopSubscription(const StopSubscription&) = delete;
  StopSubscription& operator=(const StopSubscription&) = delete;
  ~StopSubscription() {
    if (operations_ != nullptr) operations_->unsubscribe(room_);
  }

 private:
  const shared::StopOperations* operations_;
  alignas(std::max_align_t) std::byte room_[shared::stop_callback_room];
};

namespace shared {

ENCORE_COLD inline void wait_for(Duration duration, const StopView& stop) {
  struct Waker {
    std::mutex mutex;
    std::condition_variable wake_up;
    bool stopped = false;
  } waker;
  const auto until = std::chrono::steady_clock::now() + duration;
  // Declared before the lock, so destroyed after it is released: the destructor waits for the action, which takes the mutex.
  const StopSubscription subscription{stop,
                                      {[](void* argument) noexcept {
                                         auto& asleep = *static_cast<Waker*>(argument);
                                         const std::lock_guard lock{asleep.mutex};
                                         asleep.stopped = true;
                                         asleep.wake_up.notify_one();
                                       },
                                       &waker}};
  std::unique_lock lock{waker.mutex};
  while (!waker.stopped && waker.wake_up.wait_until(lock, until) != std::cv_status::timeout) {}
}

template <class Token>
struct TokenOperations {
  static_assert(StopToken<Token>,
                "this token has no callback type: give it a nested `callback_type<Function>` as in P2300, or "
                "specialise encore::stop_callback_for");
  using Callback = typename stop_callback_for<Token, StopAction>::type;
  static_assert(sizeof(Callback) <= stop_callback_room && alignof(Callback) <= alignof(std::max_align_t),
                "this token's callback type is larger than encore's room for it");
  static_assert(sizeof(Token) <= stop_token_room && alignof(Token) <= alignof(void*),
                "a stop token is at most two pointers large");

  static constexpr StopOperations all{
      [](const void* token) noexcept -> bool { return static_cast<const Token*>(token)->stop_requested(); },
      [](const void* token) noexcept -> bool { return static_cast<const Token*>(token)->stop_possible(); },
      [](const void* token, void* room, StopAction action) {
        ::new (room) Callback(*static_cast<const Token*>(token), action);
      },
      [](void* room) noexcept { static_cast<Callback*>(room)->~Callback(); },
      [](const void* token, void* room) noexcept { ::new (room) Token(*static_cast<const Token*>(token)); },
      [](void* room) noexcept { static_cast<Token*>(room)->~Token(); },
      &wait_for};
};

}  // namespace shared
}  // namespace encore

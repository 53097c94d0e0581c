// A minimal coroutine type for tests: it starts when it is awaited, and resumes its awaiter when it ends.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/detail/attributes.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace encore ENCORE_BUILD::testing {

template <class T>
class Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> awaiter{};
  std::exception_ptr error{};

  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct BackToAwaiter {
      std::coroutine_handle<> awaiter;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept {
        return awaiter ? awaiter : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    return BackToAwaiter{awaiter};
  }
  void unhandled_exception() noexcept { error = std::current_exception(); }
  void rethrow() const {
    if (error) std::rethrow_exception(error);
  }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value{};
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    rethrow();
    return *std::move(value);
  }
};
template <class T>
struct TaskPromise<T&> : TaskPromiseBase {
  T* value = nullptr;
  Task<T&> get_return_object() noexcept;
  void return_value(T& result) noexcept { value = encore::detail::address_of(result); }
  T& take() {
    rethrow();
    return *value;
  }
};
template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() { rethrow(); }
};

}  // namespace detail

/// A coroutine that starts when it is awaited, or by `start()`, and owns its frame: it may be destroyed at any point. Move-only;
/// for one thread at a time.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  explicit Task(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}
  Task(Task&& other) noexcept : frame_{std::exchange(other.frame_, {})} {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  /// Runs it until it suspends or ends.
  void start() { frame_.resume(); }
  bool done() const noexcept { return frame_.done(); }
  /// Returns or throws what the coroutine did. Only once, after `done()`.
  T result() { return frame_.promise().take(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    frame_.promise().awaiter = awaiter;
    return frame_;
  }
  T await_resume() { return result(); }

 private:
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>{std::coroutine_handle<TaskPromise>::from_promise(*this)};
}
template <class T>
Task<T&> TaskPromise<T&>::get_return_object() noexcept {
  return Task<T&>{std::coroutine_handle<TaskPromise>::from_promise(*this)};
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>{std::coroutine_handle<TaskPromise>::from_promise(*this)};
}
}  // namespace detail

}  // namespace ENCORE_BUILD::testing

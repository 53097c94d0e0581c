#include <encore/engine/deferred.hpp>
#include <encore/outcome.hpp>
#include <encore/testing/task.hpp>

#include <chrono>
#include <coroutine>
#include <future>
#include <memory>
#include <optional>

using encore::Outcome, encore::detail::Deferred, encore::testing::Task;

// Which results are a handle to one that does not exist yet, so that `run` does not compile without `as_value`. (A8)

namespace users {

struct WithMembers {
  bool await_ready() const;
  void await_suspend(std::coroutine_handle<>) const;
  int await_resume() const;
};
struct WithOperator {
  WithMembers operator co_await() const;
};
struct WithOperatorOfTemporaries {
  WithMembers operator co_await() &&;
};
struct WithFreeOperator {};
[[maybe_unused]] WithMembers operator co_await(WithFreeOperator);
struct Generator {
  struct promise_type;
};
struct OtherFuture {
  OtherFuture& wait();
  int get() const;
};

// These only look like it.
struct Response {
  std::optional<std::chrono::seconds> wait() const;
  int get() const;
};
struct Get {
  int get() const;
};
struct Parcel {
  int get(int place) const;
  bool wait = false;
};
struct Settled {  // as std::expected and its like, where a coroutine library may await them
  bool has_value() const;
  WithMembers operator co_await() const;
};

}  // namespace users

static_assert(Deferred<std::future<int>> && Deferred<std::shared_future<int>&> &&
              Deferred<const std::future<void>>);
static_assert(Deferred<Task<int>> && Deferred<Task<int>&&> && Deferred<std::suspend_always>);
static_assert(Deferred<users::WithMembers> && Deferred<users::WithOperator> &&
              Deferred<users::WithOperatorOfTemporaries> && Deferred<users::WithFreeOperator> &&
              Deferred<users::Generator> && Deferred<users::OtherFuture>);
static_assert(!Deferred<void> && !Deferred<int> && !Deferred<int*> && !Deferred<void (&)()>);
static_assert(!Deferred<std::unique_ptr<int>> && !Deferred<std::optional<std::future<int>>> &&
              !Deferred<Outcome<int>> && !Deferred<std::chrono::seconds> && !Deferred<std::promise<int>>);
static_assert(!Deferred<users::Response> && !Deferred<users::Get> && !Deferred<users::Parcel> &&
              !Deferred<users::Settled>);

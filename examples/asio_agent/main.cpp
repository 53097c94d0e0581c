// An agent's tools, called in parallel by coroutines on one thread, over real sockets: one is fine, one is slow, one fails.
// Then calls are ended from outside: in the middle of a long wait by a stop request, by Asio's own cancellation, and by the end
// of their loop; and in the middle of an attempt. At last an attempt has a limit of its own: a timer cancels its socket.
#include "sleeper.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>

#include <asio.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

using namespace std::chrono_literals;
using asio::awaitable, asio::use_awaitable;
using asio::ip::tcp;

namespace {

struct ToolDown : std::runtime_error {
  using runtime_error::runtime_error;
};

// ---- a server on loopback: a line with a tool's name is answered by a line ------------------------------------------

awaitable<void> serve(tcp::socket client) {
  std::string line;
  const auto size = co_await asio::async_read_until(client, asio::dynamic_buffer(line), '\n', use_awaitable);
  const auto tool = line.substr(0, size - 1);
  if (tool == "slow") {
    asio::steady_timer timer{client.get_executor(), 200ms};
    co_await timer.async_wait(use_awaitable);
  }
  if (tool == "silent") {
    std::string nothing;
    co_await asio::async_read_until(client, asio::dynamic_buffer(nothing), '\n', use_awaitable);
  }
  const std::string answer = tool == "failing" ? "503\n" : "17 units\n";
  co_await asio::async_write(client, asio::buffer(answer), use_awaitable);
}

awaitable<void> listen(tcp::acceptor& acceptor) {
  for (;;)
    asio::co_spawn(acceptor.get_executor(), serve(co_await acceptor.async_accept(use_awaitable)),
                   asio::detached);
}

/// Cancels what is under way on a socket when the attempt's time is over, as `asio::error::operation_aborted`. encore knows then
/// that the attempt was too slow, and not its call cancelled.
asio::steady_timer cancel_when_over(const encore::Attempt& attempt,
                                    const std::shared_ptr<tcp::socket>& socket) {
  asio::steady_timer timer{socket->get_executor()};
  if (const auto left = attempt.remaining()) {
    timer.expires_after(*left);
    timer.async_wait([socket](const std::error_code& aborted) {
      if (!aborted) socket->cancel();
    });
  }
  return timer;
}

awaitable<std::string> ask(tcp::endpoint server, std::string tool, const encore::Attempt& attempt) {
  const auto socket = std::make_shared<tcp::socket>(co_await asio::this_coro::executor);
  const auto limit = cancel_when_over(attempt, socket);
  co_await socket->async_connect(server, use_awaitable);
  co_await asio::async_write(*socket, asio::buffer(tool + "\n"), use_awaitable);
  std::string line;
  const auto size = co_await asio::async_read_until(*socket, asio::dynamic_buffer(line), '\n', use_awaitable);
  line.resize(size - 1);
  if (line == "503") throw ToolDown{line};
  co_return line;
}

// ---- the agent ------------------------------------------------------------------------------------------------------

// Errors of the network are retried, and Asio tells a cancellation as one of them: that is not, unless the attempt's own limit
// was the reason.
const encore::RetryPolicy tool_policy{
    encore::RetryOn<ToolDown, std::system_error>{},
    encore::MaxRetries{2},
    encore::ExponentialBackoff{.initial_delay = 20ms},
    encore::NoJitter{},
};

/// What became of one call: heard by an observer, so that it is known of calls that nobody waits for any more too.
struct Ending {
  std::string answer = "none";
  int failed_attempts = 0;
  int attempts = 0;
  encore::StopReason reason = encore::StopReason::none;

  void operator()(const encore::Event& event) {
    if (event.kind == encore::EventKind::attempt_failed) ++failed_attempts;
    if (event.kind == encore::EventKind::call_finished) attempts = event.ordinal, reason = event.reason;
  }
  bool over() const { return reason != encore::StopReason::none; }
};

/// One call, as a coroutine: all that is Asio's in it is the operation and the sleeper.
template <class Policy>
awaitable<void> call_tool(Policy policy, tcp::endpoint server, std::string tool, Ending& ending,
                          encore::StopView stop = {}) {
  ending.answer = co_await encore::co_run(
      policy.with(std::ref(ending)), {.id = tool, .name = tool, .stop = stop},
      [&](const encore::Attempt& attempt) { return ask(server, tool, attempt); }, AsioSleeper{});
}

void print_title(const char* what) {
  fmt::print("{:<28}{:<10}{:<10}{}\n", what, "attempts", "answer", "ended because");
}
void print_row(const char* what, const Ending& ending) {
  fmt::print("{:<28}{:<10}{:<10}{}\n", what, ending.attempts, ending.answer, ending.reason);
}

int show() {
  asio::io_context loop;
  tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
  const auto server = acceptor.local_endpoint();
  asio::co_spawn(loop, listen(acceptor), asio::detached);

  Ending slow, failing, fine;
  std::string order;
  auto ended = 0;
  const auto call = [&](const std::string& tool, Ending& ending) {
    asio::co_spawn(loop, call_tool(tool_policy, server, tool, ending),
                   [&, tool](std::exception_ptr) { order += (ended++ == 0 ? "" : ", ") + tool; });
  };
  call("slow", slow);
  call("failing", failing);
  call("fine", fine);
  while (ended < 3) loop.run_one();
  print_title("tool");
  print_row("slow", slow);
  print_row("failing", failing);
  print_row("fine", fine);
  fmt::print("in order of their end: {}\n\n", order);

  // These wait for an hour, if nobody comes in between.
  const auto patient = tool_policy.with(encore::ConstantBackoff{1h});
  Ending stopped, cancelled, forgotten, interrupted;
  std::stop_source source;
  const auto token = source.get_token();
  asio::cancellation_signal cancel_wait, cancel_attempt;
  asio::co_spawn(loop, call_tool(patient, server, "failing", stopped, token), asio::detached);
  asio::co_spawn(loop, call_tool(patient, server, "failing", cancelled),
                 asio::bind_cancellation_slot(cancel_wait.slot(), asio::detached));
  asio::co_spawn(loop, call_tool(patient, server, "silent", interrupted),
                 asio::bind_cancellation_slot(cancel_attempt.slot(), asio::detached));
  {
    asio::io_context short_lived;
    asio::co_spawn(short_lived, call_tool(patient, server, "failing", forgotten), asio::detached);
    while (stopped.failed_attempts + cancelled.failed_attempts + forgotten.failed_attempts < 3) {
      loop.poll();
      short_lived.poll();
    }
  }
  loop.poll();  // into their waits
  const auto all_wait = !stopped.over() && !cancelled.over() && !interrupted.over();

  source.request_stop();
  loop.poll();  // one turn, which waits for nothing
  const auto stopped_at_once = stopped.over();
  cancel_wait.emit(asio::cancellation_type::terminal);
  cancel_attempt.emit(asio::cancellation_type::terminal);
  loop.poll();
  const auto cancelled_at_once = cancelled.over() && interrupted.over();
  print_title("ended in a wait of 1 h");
  print_row("by a stop request", stopped);
  print_row("by Asio's cancellation", cancelled);
  print_row("by the end of its loop", forgotten);
  print_title("ended in an attempt");
  print_row("by Asio's cancellation", interrupted);

  const auto good = all_wait && stopped_at_once && cancelled_at_once;
  fmt::print("within the loop's next turn: {}\n\n", good ? "yes" : "no");

  Ending too_slow;
  asio::co_spawn(loop, call_tool(tool_policy.with(encore::AttemptTimeout{20ms}), server, "silent", too_slow),
                 asio::detached);
  while (!too_slow.over()) loop.run_one();
  print_title("attempts of at most 20 ms");
  print_row("cancelled by their timer", too_slow);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return show();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}

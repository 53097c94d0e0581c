// An agent's tools, called in parallel by coroutines on one thread, over real sockets: one is fine, one is slow, one fails.
// Then two calls are ended in the middle of a long wait: by a stop request, and by Asio's own cancellation.
#include "sleeper.hpp"
#include <encore/async/co_run.hpp>
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>

#include <asio.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
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
  const std::string answer = tool == "failing" ? "503\n" : "17 units\n";
  co_await asio::async_write(client, asio::buffer(answer), use_awaitable);
}

awaitable<void> listen(tcp::acceptor& acceptor) {
  for (;;)
    asio::co_spawn(acceptor.get_executor(), serve(co_await acceptor.async_accept(use_awaitable)),
                   asio::detached);
}

awaitable<std::string> ask(tcp::endpoint server, std::string tool) {
  tcp::socket socket{co_await asio::this_coro::executor};
  co_await socket.async_connect(server, use_awaitable);
  co_await asio::async_write(socket, asio::buffer(tool + "\n"), use_awaitable);
  std::string line;
  const auto size = co_await asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', use_awaitable);
  line.resize(size - 1);
  if (line == "503") throw ToolDown{line};
  co_return line;
}

// ---- the agent ------------------------------------------------------------------------------------------------------

const encore::RetryPolicy tool_policy{
    encore::RetryOn<ToolDown>{}, encore::MaxRetries{2},   encore::ExponentialBackoff{.initial_delay = 20ms},
    encore::NoJitter{},          encore::ReturnOutcome{},
};
using Answer = encore::Outcome<std::string>;

/// One call, as a coroutine: all that is Asio's in it is the operation and the sleeper.
template <class Policy>
awaitable<void> call_tool(const Policy& policy, tcp::endpoint server, std::string tool,
                          std::optional<Answer>& answer, encore::StopView stop = {}) {
  answer = co_await encore::co_run(
      policy, {.id = tool, .name = tool, .stop = stop}, [&] { return ask(server, tool); }, AsioSleeper{});
}

void print_row(const std::string& what, const std::optional<Answer>& given) {
  if (!given) throw std::logic_error{what + ": no outcome"};
  const auto& answer = *given;
  fmt::print("{:<24}{:<10}{:<10}{}\n", what, answer.attempts(), answer ? *answer : "none", answer.reason());
}

int show() {
  asio::io_context loop;
  tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
  const auto server = acceptor.local_endpoint();
  asio::co_spawn(loop, listen(acceptor), asio::detached);

  std::optional<Answer> slow, failing, fine;
  std::string order;
  auto ended = 0;
  const auto call = [&](const std::string& tool, std::optional<Answer>& answer) {
    asio::co_spawn(loop, call_tool(tool_policy, server, tool, answer),
                   [&, tool](std::exception_ptr) { order += (ended++ == 0 ? "" : ", ") + tool; });
  };
  call("slow", slow);
  call("failing", failing);
  call("fine", fine);
  while (ended < 3) loop.run_one();
  fmt::print("{:<24}{:<10}{:<10}{}\n", "tool", "attempts", "answer", "ended because");
  print_row("slow", slow);
  print_row("failing", failing);
  print_row("fine", fine);
  fmt::print("in order of their end: {}\n\n", order);

  // Both wait for an hour, if nobody comes in between.
  auto waiting = 0;
  const auto patient = tool_policy.with(encore::ConstantBackoff{1h}, [&](const encore::Event& event) {
    waiting += event.kind == encore::EventKind::attempt_failed ? 1 : 0;
  });
  std::optional<Answer> stopped;
  std::optional<Answer> cancelled;
  std::stop_source source;
  const auto token = source.get_token();
  asio::cancellation_signal signal;
  asio::co_spawn(loop, call_tool(patient, server, "failing", stopped, token), asio::detached);
  asio::co_spawn(loop, call_tool(patient, server, "failing", cancelled),
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  while (waiting < 2) loop.run_one();
  loop.poll();
  const auto both_wait = !stopped && !cancelled;

  source.request_stop();
  loop.poll();  // one turn, which waits for nothing
  const auto stopped_at_once = stopped.has_value();
  signal.emit(asio::cancellation_type::terminal);
  loop.poll();
  const auto cancelled_at_once = cancelled.has_value();
  fmt::print("{:<24}{:<10}{:<10}{}\n", "ended in a wait of 1 h", "attempts", "answer", "ended because");
  print_row("by a stop request", stopped);
  print_row("by Asio's cancellation", cancelled);

  const auto good = *fine && *slow && !*failing && failing->attempts() == 3 && both_wait && stopped_at_once &&
                    cancelled_at_once;
  fmt::print("within the loop's next turn: {}\n", good ? "yes" : "no");
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

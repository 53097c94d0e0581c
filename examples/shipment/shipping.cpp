#include "shipping.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <sstream>

using namespace std::chrono_literals;

namespace {

constexpr auto host = "127.0.0.1";

httplib::Client client_for(int port) {
  httplib::Client client{host, port};
  client.set_tcp_nodelay(true);
  client.set_connection_timeout(5s);
  client.set_read_timeout(5s);
  return client;
}

bool reached_the_server(httplib::Error error) {
  return error != httplib::Error::Connection && error != httplib::Error::ConnectionTimeout;
}

}  // namespace

std::string Shipping::ship(const std::string& order, Key key, const encore::Attempt& attempt) const {
  httplib::Headers headers{{"X-Call-Id", std::string{attempt.call_id()}},
                           {"X-Attempt", std::to_string(attempt.ordinal)}};
  if (key == Key::sent) headers.emplace("Idempotency-Key", attempt.idempotency_key());
  auto client = client_for(port_);
  const auto result = client.Post("/shipments", headers, order, "text/plain");
  reached_the_server(result.error()) ? attempt.mark_dispatched() : attempt.mark_not_run();
  if (!result) throw ConnectionDropped{fmt::format("{} from {}", httplib::to_string(result.error()), host)};
  attempt.mark_answered();
  attempt.note_status(result->status);
  if (result->status != 200 && result->status != 201)
    throw UnexpectedAnswer{fmt::format("status {} for {}", result->status, order)};
  return result->body;
}

std::vector<std::string> Shipping::shipments_of(const std::string& order) const {
  auto client = client_for(port_);
  const auto result = client.Get("/orders/" + order + "/shipments");
  if (!result || result->status != 200) throw UnexpectedAnswer{"the carrier does not list " + order};
  std::vector<std::string> numbers;
  std::istringstream lines{result->body};
  for (std::string line; std::getline(lines, line);) numbers.push_back(line);
  return numbers;
}

#include "carrier.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

using namespace std::chrono_literals;
using encore::testing::Fault;

namespace {

// Promises more than it sends; the server then closes the connection.
void drop_connection(httplib::Response& response) {
  response.set_content_provider(100, "text/plain",
                                [](std::size_t, std::size_t, httplib::DataSink&) { return false; });
}

}  // namespace

Carrier::Carrier(const std::string& ledger_file, Plan plan) : plan_{std::move(plan)}, ledger_{ledger_file} {
  server_.set_tcp_nodelay(true);
  server_.Post("/shipments", [this](const httplib::Request& request, httplib::Response& response) {
    ship(request, response);
  });
  server_.Get("/orders/([^/]+)/shipments", [this](const httplib::Request& request,
                                                  httplib::Response& response) { list(request, response); });
  port_ = server_.bind_to_any_port("127.0.0.1");
  if (port_ <= 0) throw std::runtime_error{"the carrier cannot listen on 127.0.0.1"};
  thread_ = std::thread{[this] { server_.listen_after_bind(); }};
  while (!server_.is_running()) std::this_thread::sleep_for(1ms);
}

Carrier::~Carrier() {
  server_.stop();
  thread_.join();
}

void Carrier::ship(const httplib::Request& request, httplib::Response& response) {
  const auto& order = request.body;
  const auto key = request.get_header_value("Idempotency-Key");
  const std::lock_guard lock{mutex_};
  const auto fault = plan_(order, ledger_.requests_of(order) + 1);
  if (fault == Fault::Kind::failure) {
    ledger_.write_down_request(order, key, "dropped");
    return drop_connection(response);
  }
  const auto shipment = ledger_.ship(order, key);
  const std::string done = shipment.recognised ? "recognised" : "committed";
  if (fault == Fault::Kind::lost_result) {
    ledger_.write_down_request(order, key, done + ", then dropped");
    return drop_connection(response);
  }
  ledger_.write_down_request(order, key, done + ", answered");
  response.status = shipment.recognised ? 200 : 201;
  response.set_content(shipment.number, "text/plain");
}

void Carrier::list(const httplib::Request& request, httplib::Response& response) {
  std::string numbers;
  const std::lock_guard lock{mutex_};
  for (const auto& number : ledger_.shipments_of(request.matches[1])) numbers += number + '\n';
  response.set_content(numbers, "text/plain");
}

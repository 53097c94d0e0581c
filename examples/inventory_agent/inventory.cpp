#include "inventory.hpp"

#include "errors.hpp"
#include <encore/clock.hpp>
#include <encore/http/retry_after.hpp>

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <chrono>
#include <optional>

using namespace std::chrono_literals;

namespace {

constexpr auto host = "127.0.0.1";

httplib::Headers headers_of(const encore::Attempt& attempt) {
  return {{"X-Call-Id", std::string{attempt.call_id()}},
          {"X-Attempt", std::to_string(attempt.ordinal)},
          {"Idempotency-Key", attempt.idempotency_key()}};
}

bool reached_the_server(httplib::Error error) {
  return error != httplib::Error::Connection && error != httplib::Error::ConnectionTimeout;
}

// The more exact header first, if the server sends one.
std::optional<encore::Duration> retry_after(const httplib::Response& response) {
  if (const auto wait = encore::http::retry_after_ms(response.get_header_value("retry-after-ms")))
    return wait;
  return encore::http::retry_after(response.get_header_value("Retry-After"),
                                   response.get_header_value("Date"), encore::SteadyClock::wall());
}

int units_in(const std::string& body) {
  int units = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), units);
  if (error != std::errc{} || end != body.data() + body.size())
    throw UnexpectedAnswer{"200 without a number of units"};
  return units;
}

int units_in(const httplib::Response& response, const std::string& sku) {
  switch (response.status) {
    case 200: return units_in(response.body);
    case 400: throw BadRequest{fmt::format("{} is no SKU", sku)};
    case 404: throw NotFound{fmt::format("there is no {}", sku)};
    case 503: throw ServiceUnavailable{fmt::format("{} is busy", host), retry_after(response)};
    default: throw UnexpectedAnswer{fmt::format("status {} for {}", response.status, sku)};
  }
}

}  // namespace

int Inventory::look_up(const std::string& sku, const encore::Attempt& attempt) const {
  const auto patience = attempt.timeout_or<std::chrono::milliseconds>(10s);
  httplib::Client client{host, port_};
  client.set_connection_timeout(patience);
  client.set_read_timeout(patience);

  const auto path = "/inventory/" + sku;
  const auto headers = headers_of(attempt);
  auto began = std::chrono::steady_clock::now();
  auto result = client.Get(path, headers);
  if (!result && client_retries_ == ClientRetries::once) {
    began = std::chrono::steady_clock::now();
    result = client.Get(path, headers);
  }

  reached_the_server(result.error()) ? attempt.mark_dispatched() : attempt.mark_not_run();
  if (!result) {
    // The library calls both a silent server and a lost connection a failed read: the time tells them apart.
    const auto what = fmt::format("{} from {}:{}", httplib::to_string(result.error()), host, port_);
    if (std::chrono::steady_clock::now() - began >= patience) throw TimeoutError{what};
    throw ConnectionDropped{what};
  }
  result->status == 503 ? attempt.mark_not_run() : attempt.mark_answered();
  attempt.note_status(result->status);
  attempt.note_request_id(result->get_header_value("X-Request-Id"));
  return units_in(*result, sku);
}

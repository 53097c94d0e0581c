// The tool's adapter: the border at which HTTP becomes a number or a typed exception.
#pragma once
#include <encore/attempt.hpp>

#include <string>

/// A second retry layer under the policy, as some HTTP clients have one. encore cannot see it, the backend can.
enum class ClientRetries { none, once };

/// Asks the inventory service, with one request an attempt. Thread-safe.
class Inventory {
 public:
  Inventory(int port, ClientRetries client_retries) : port_{port}, client_retries_{client_retries} {}

  /// The units of a SKU in stock. Sends the call's id, the attempt's ordinal and the idempotency key along, takes no longer than
  /// the attempt may, and notes what came back. Throws what errors.hpp lists.
  int look_up(const std::string& sku, const encore::Attempt& attempt) const;

 private:
  int port_;
  ClientRetries client_retries_;
};

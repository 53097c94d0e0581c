// The tools' adapter: the border at which HTTP becomes a shipment's number or a typed exception.
#pragma once
#include <encore/attempt.hpp>

#include <stdexcept>
#include <string>
#include <vector>

/// This passes: another attempt may help, if it does no harm.
struct ConnectionDropped : std::runtime_error {
  using runtime_error::runtime_error;
};

/// This stays.
struct UnexpectedAnswer : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Does a request say by which key the carrier can know it again?
enum class Key { sent, none };

/// Asks the carrier, with one request an attempt. Thread-safe.
class Shipping {
 public:
  explicit Shipping(int port) : port_{port} {}

  /// Orders a shipment and gives its number. Marks the request as dispatched, and as answered once an answer came.
  std::string ship(const std::string& order, Key key, const encore::Attempt& attempt) const;
  /// The numbers of an order's shipments: how a host finds out what became of a request.
  std::vector<std::string> shipments_of(const std::string& order) const;

 private:
  int port_;
};

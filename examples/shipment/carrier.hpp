// The carrier that the agent's tools call: a real HTTP server on this machine, which loses connections as it is told to.
#pragma once
#include "ledger.hpp"
#include <encore/testing/fault_injector.hpp>

#include <httplib.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>

/// What happens to the nth request for an order: nothing; a failure, which is a connection lost before anything was done; or a
/// lost result, which is a connection lost after the shipment was committed.
using Plan = std::function<encore::testing::Fault::Kind(const std::string& order, int request)>;

/// Listens on a free port of 127.0.0.1 from construction to destruction, and keeps its ledger in a file. Thread-safe.
class Carrier {
 public:
  /// Throws `std::runtime_error` if it cannot listen, or keep a ledger.
  Carrier(const std::string& ledger_file, Plan plan);
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  ~Carrier();

  int port() const noexcept { return port_; }

 private:
  void ship(const httplib::Request& request, httplib::Response& response);
  void list(const httplib::Request& request, httplib::Response& response);

  const Plan plan_;
  std::mutex mutex_;
  Ledger ledger_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

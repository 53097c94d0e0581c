// The inventory service that the agent calls: a real HTTP server on this machine, which answers as a script says.
#pragma once
#include "script.hpp"

#include <httplib.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// One line of the backend's own request log: what came over the wire, and what the backend did.
struct Request {
  std::string id;  ///< the backend's own
  std::string call_id;
  int ordinal = 0;
  std::string idempotency_key;
  std::string sku;
  Answer answer;
};

/// Listens on a free port of 127.0.0.1 from construction to destruction. Thread-safe.
class Backend {
 public:
  /// Throws `std::runtime_error` if it cannot listen.
  explicit Backend(const Script& script);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend();

  int port() const noexcept { return port_; }
  /// Every request so far, in the order in which they came.
  std::vector<Request> log() const;

 private:
  void answer(const httplib::Request& request, httplib::Response& response);
  Request write_down(const httplib::Request& request);
  void stay_silent();

  const Script& script_;
  httplib::Server server_;
  int port_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
  std::vector<Request> log_;
  std::map<std::string, std::size_t> requests_by_sku_;

  std::thread thread_;
};

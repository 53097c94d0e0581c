// What can go wrong with a lookup, each as a type of its own: a policy tells failures apart by type, not by their text.
#pragma once
#include <encore/duration.hpp>

#include <optional>
#include <stdexcept>
#include <string>

// These pass: another attempt may help.

struct TimeoutError : std::runtime_error {
  using runtime_error::runtime_error;
};

struct ConnectionDropped : std::runtime_error {
  using runtime_error::runtime_error;
};

class ServiceUnavailable : public std::runtime_error {
 public:
  ServiceUnavailable(const std::string& what, std::optional<encore::Duration> retry_after)
      : runtime_error{what},
        retry_after_{retry_after} {}
  /// How long the server asked its callers to stay away. The policy looks for a member of this name.
  std::optional<encore::Duration> retry_after() const noexcept { return retry_after_; }

 private:
  std::optional<encore::Duration> retry_after_;
};

// These stay: the same request would be answered the same way.

struct NotFound : std::runtime_error {
  using runtime_error::runtime_error;
};

struct BadRequest : std::runtime_error {
  using runtime_error::runtime_error;
};

struct UnexpectedAnswer : std::runtime_error {
  using runtime_error::runtime_error;
};

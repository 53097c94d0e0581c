// A category as Asio 1.22 has one for the system's errors: the numbers of `errno`, and no translation into conditions.
#pragma once
#include <string>
#include <system_error>

namespace encore_tests {

class Untranslated : public std::error_category {
 public:
  explicit Untranslated(const char* its_name) : name_{its_name} {}
  const char* name() const noexcept override { return name_; }
  std::string message(int) const override { return "no message"; }

 private:
  const char* name_;
};

inline const Untranslated asio_like{"asio.system"};

}  // namespace encore_tests

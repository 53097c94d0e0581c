// The result of checking one rule of a contract, for any test framework.
#pragma once
#include <encore/detail/attributes.hpp>

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD::testing {

/// What a check found. True if the contract is kept; otherwise it prints the tool, the call's id, the failure's class, the
/// attempts expected and observed, how the call ended, and each point that is broken.
class [[nodiscard]] ContractCheck {
 public:
  explicit ContractCheck(std::string about) : about_{std::move(about)} {}

  explicit operator bool() const noexcept { return broken_.empty(); }
  const std::vector<std::string>& broken() const noexcept { return broken_; }
  void expect(bool kept, std::string message) {
    if (!kept) broken_.push_back(std::move(message));
  }

  friend std::string to_string(const ContractCheck& check) {
    auto text = check.about_;
    if (check) return text.append("\n  holds");
    for (const auto& point : check.broken_) text.append("\n  BROKEN: ").append(point);
    return text;
  }
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      const ContractCheck& check) {
    return out << to_string(check);
  }

 private:
  std::string about_;
  std::vector<std::string> broken_;
};

}  // namespace ENCORE_BUILD::testing

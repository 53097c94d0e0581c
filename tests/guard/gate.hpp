// A guard that does as it is told, and writes down in one log all that it is asked and told.
#pragma once
#include <encore/guard/guard.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace told {

using namespace std::chrono_literals;
using encore::AdmissionRequest, encore::Now, encore::StopReason;

using Log = std::vector<std::string>;

template <StopReason Refusal = StopReason::circuit_open, bool PerCall = false>
class Gate {
 public:
  using role = encore::role::Guard;
  static constexpr auto refusal = Refusal;
  static constexpr bool per_call = PerCall;
  using Decides = std::function<bool(const AdmissionRequest&)>;

  explicit Gate(Log& log, std::string name = "a") : log_{log}, name_{std::move(name)} {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Decides admits = [](const AdmissionRequest&) { return true; };
  std::function<bool()> still = [] { return true; };
  int admitted = 0, returned = 0;

  class Permit {
   public:
    explicit Permit(Gate& gate) : gate_{&gate} {}
    Permit(Permit&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)}, told_{other.told_} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (gate_ == nullptr) return;
      ++gate_->returned;
      if (!told_) gate_->note("unspent");
    }
    void began(const Now&) { gate_->note("began"); }
    bool still_admitted(const Now&) {
      gate_->note("woke");
      return gate_->still();
    }
    void succeeded(const Now&) { tell("succeeded"); }
    void failed(const Now&, bool retryable) { tell(retryable ? "failed" : "failed for good"); }

   private:
    void tell(const char* what) {
      if (told_) gate_->note("told twice");
      told_ = true;
      gate_->note(what);
    }
    Gate* gate_;
    bool told_ = false;
  };

  std::optional<Permit> admit(const AdmissionRequest& request) {
    note("? " + std::to_string(request.ordinal) +
         (request.ahead > 0s ? " in " + std::to_string(request.ahead / 1s) + "s" : ""));
    if (!admits(request)) return std::nullopt;
    ++admitted;
    return std::optional<Permit>{std::in_place, *this};
  }

 private:
  void note(const std::string& what) { log_.push_back(name_ + ' ' + what); }
  Log& log_;
  std::string name_;
};

}  // namespace told

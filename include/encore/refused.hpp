// The exception of a call that was refused before its first attempt.
#pragma once
#include <encore/detail/quoted_text.hpp>
#include <encore/stop_reason.hpp>
#include <encore/unretryable.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace encore ENCORE_BUILD {

/// Thrown when a limit, a stop request or a guard refused the call before its first attempt, so that there is no exception to
/// rethrow. It carries the stop reason, and no policy retries it. (B4, D5, G4)
class Refused : public Unretryable {
 public:
  Refused(StopReason reason, std::string_view call_id, std::string_view call_name)
      : Unretryable{message(reason, call_id, call_name)},
        reason_{reason} {}
  StopReason reason() const noexcept { return reason_; }

 private:
  static std::string message(StopReason reason, std::string_view call_id, std::string_view call_name) {
    // Names come from models: they must not be able to end a log line or send control codes to a terminal.
    auto text = "encore: call " + detail::shown(call_id);
    if (!call_name.empty()) text.append(" (").append(detail::shown(call_name)).append(1, ')');
    return text.append(" was refused before its first attempt: ").append(to_string(reason));
  }
  StopReason reason_;
};

}  // namespace encore ENCORE_BUILD

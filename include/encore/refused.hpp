// The exception of a call that was refused before its first attempt.
#pragma once
#include <encore/quoted_text.hpp>
#include <encore/stop_reason.hpp>
#include <encore/unretryable.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace encore {

/// A limit, a stop request or a guard refused the call before its first attempt, so there is no exception to rethrow. It
/// carries the reason, and no policy retries it. (B4, D5, G4)
class Refused : public Unretryable {
 public:
  Refused(StopReason reason, std::string_view call_id, std::string_view call_name)
      : Unretryable{message(reason, call_id, call_name)},
        reason_{reason} {}
  StopReason reason() const noexcept { return reason_; }

 private:
  static std::string message(StopReason reason, std::string_view call_id, std::string_view call_name) {
    std::string text{"encore: call "};
    append_name(text, call_id);
    if (!call_name.empty()) append_name(text += " (", call_name), text += ')';
    return text.append(" was refused before its first attempt: ").append(to_string(reason));
  }
  // Names come from models: one with a newline in it must not become a line of a log.
  static void append_name(std::string& text, std::string_view name) {
    if (reads_plain(name))
      text.append(name);
    else
      append_quoted(text, name);
  }
  StopReason reason_;
};

}  // namespace encore

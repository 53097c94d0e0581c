// The exception of a call that was refused before its first attempt.
#pragma once
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
  // Names come from models: what is in one of them must not end the line of a log, or act on a terminal.
  static void append_name(std::string& text, std::string_view name) {
    for (const char character : name)
      text += static_cast<unsigned char>(character) < 0x20 || character == 0x7F ? '?' : character;
  }
  StopReason reason_;
};

}  // namespace encore

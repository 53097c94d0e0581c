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
    add(text, call_id);
    if (!call_name.empty()) add(text, " ("), add(text, call_name), add(text, ")");
    add(text, " was refused before its first attempt: "), add(text, to_string(reason));
    return text;
  }
  // Names come from models: what is in one of them must not end the line of a log, or act on a terminal.
  static void add(std::string& text, std::string_view part) {
    for (const char character : part)
      text += static_cast<unsigned char>(character) < 0x20 || character == 0x7F ? '?' : character;
  }
  StopReason reason_;
};

}  // namespace encore

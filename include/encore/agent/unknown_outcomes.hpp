// The calls that somebody still has to reconcile.
#pragma once
#include <encore/agent/unknown_outcome.hpp>
#include <encore/durable/saved_state.hpp>

#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

/// A list of unknown outcomes, in the order in which they came. Nothing is ever dropped from it but by `take`: each is an
/// effect that somebody may be waiting for. Thread-safe; not copied. (I3)
class UnknownOutcomes {
 public:
  /// Of the lines that it saves.
  static constexpr std::string_view kind{"unknown_outcome"};

  void add(UnknownOutcome outcome) {
    const std::lock_guard lock{mutex_};
    outcomes_.push_back(std::move(outcome));
  }
  std::vector<UnknownOutcome> all() const {
    const std::lock_guard lock{mutex_};
    return outcomes_;
  }
  /// All of them, for somebody who reconciles them now; the list is empty after that.
  std::vector<UnknownOutcome> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(outcomes_, {});
  }

  /// One line for each, texts byte for byte. The exception is not in it, only its type.
  std::string save() const {
    std::string text;
    for (const auto& outcome : all())
      text += StateLine{kind}
                  .add_bytes("call_id", outcome.call_id)
                  .add_bytes("call_name", outcome.call_name)
                  .add_bytes("resolved_name", outcome.resolved_name)
                  .add_bytes("key", outcome.idempotency_key)
                  .add_bytes("request_id", outcome.request_id)
                  .add_bytes("signature", outcome.signature)
                  .add("attempts", outcome.attempts)
                  .add_bytes("error_type", outcome.error_type)
                  .text() +
              '\n';
    return text;
  }
  /// Takes over what was saved, in place of the list. Throws `std::invalid_argument` for text that is not what `save` wrote,
  /// and changes nothing then.
  void restore(std::string_view text) {
    std::vector<UnknownOutcome> outcomes;
    for (const auto& line : saved_lines(text, kind)) {
      outcomes.push_back(
          {.call_id = line.bytes("call_id"),
           .call_name = line.bytes("call_name"),
           .resolved_name = line.bytes("resolved_name"),
           .idempotency_key = line.bytes("key"),
           .request_id = line.bytes("request_id"),
           .signature = line.has_bytes("signature") ? line.bytes("signature") : "",
           .attempts = static_cast<int>(line.count("attempts", 0, (std::numeric_limits<int>::max)())),
           .error_type = line.bytes("error_type")});
    }
    const std::lock_guard lock{mutex_};
    outcomes_.swap(outcomes);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<UnknownOutcome> outcomes_;
};

}  // namespace encore ENCORE_BUILD

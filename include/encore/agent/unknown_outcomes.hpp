// The list of calls that still have to be reconciled.
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

/// The unknown outcomes of a run, in order. Only `take` removes them: each may be an effect that matters to someone. Thread-safe;
/// not copyable. (I3)
class UnknownOutcomes {
 public:
  /// The kind of the lines that it saves.
  static constexpr std::string_view kind{"unknown_outcome"};

  void add(UnknownOutcome outcome) {
    const std::lock_guard lock{mutex_};
    outcomes_.push_back(std::move(outcome));
  }
  std::vector<UnknownOutcome> all() const {
    const std::lock_guard lock{mutex_};
    return outcomes_;
  }
  /// Returns all of them, to be reconciled now, and empties the list.
  std::vector<UnknownOutcome> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(outcomes_, {});
  }

  /// One line for each; texts are restored byte for byte. Of the exception only its type is saved.
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
  /// Replaces the list by what was saved. Throws `std::invalid_argument` for text that `save` did not write, and changes nothing
  /// then.
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

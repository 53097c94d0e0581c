// Detects that an agent repeats its calls in a loop, and refuses the call that would continue it.
#pragma once
#include <encore/agent/call_signature.hpp>
#include <encore/agent/refusal.hpp>
#include <encore/agent/run_guard.hpp>
#include <encore/detail/agent/cycle_finder.hpp>
#include <encore/detail/quoted_text.hpp>
#include <encore/durable/saved_state.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore ENCORE_BUILD {

class LoopWatch;

/// A loop is a pattern of at most `max_cycle_len` calls that was made `repeats` times in a row; the call that would start it once
/// more is refused. Two calls are the same if they have the same name and arguments, or the same signature if the caller gives
/// one. (H6)
///   LoopDetector{.repeats = 3}
///   LoopDetector{.signature = [](const IssuedCall& call) { return std::string{call.name}; }}  // whatever the arguments
struct LoopDetector {
  using State = LoopWatch;
  detail::CycleFinder<int>::Repeats repeats = 3;
  detail::CycleFinder<int>::MaxCycleLen max_cycle_len = 8;
  /// Whether two calls must also have the same result to be the same: then a poll that makes progress is not a loop.
  bool with_results = false;
  /// Computes the signature of a call that brings none, for a model that asks for the same thing in other words. It must not
  /// throw.
  std::string (*signature)(const IssuedCall& call) = nullptr;
};

/// A refusal of a call that would continue a loop.
struct LoopDetected : Refusal {
  std::vector<std::string> pattern{};  ///< the names of the calls, in order, each cut to 64 bytes
  std::int64_t repeats = 0;            ///< how many times in a row they were made
};

/// Remembers the latest calls of a run. Time per call and memory do not grow with the run. Thread-safe; not copyable. (H8)
class LoopWatch {
 public:
  explicit LoopWatch(const LoopDetector& settings)
      : with_results_{settings.with_results},
        own_signature_{settings.signature},
        finder_{settings.repeats, settings.max_cycle_len} {}

  /// Before a call: refuses it if it would continue a loop, and then does not record it; the same call is refused again, and
  /// another one is admitted and breaks the loop.
  [[nodiscard]] std::optional<LoopDetected> admit(const IssuedCall& call) {
    const auto signature = signature_of(call);
    const std::lock_guard lock{mutex_};
    const auto length = finder_.find([&](const Entry& first) { return first.call == signature; });
    if (length != 0) return detected(length, call.name);
    if (!with_results_) remember(call, signature, signature);
    return std::nullopt;
  }

  /// After a call: records what the model got, whether the call was made or another guard refused it. It matters only if
  /// `with_results` is set, and may always be called. Calls made at the same time do not see each other's results.
  void answered(const IssuedCall& call, std::string_view content) {
    if (!with_results_) return;
    const auto signature = signature_of(call);
    const std::lock_guard lock{mutex_};
    remember(call, signature, signature.with_result(content));
  }

  /// For calls whose signature is known only afterwards, as with a call of the model: ask `standing_loop` before it, and `record`
  /// it after. While the recorded calls end in a full loop every call is refused, since its signature is not known yet.
  [[nodiscard]] std::optional<LoopDetected> standing_loop() const {
    const std::lock_guard lock{mutex_};
    const auto length = finder_.find([](const Entry&) { return true; });
    if (length == 0) return std::nullopt;
    return detected(length, {});
  }
  void record(const IssuedCall& call) {
    const auto signature = signature_of(call);
    const std::lock_guard lock{mutex_};
    remember(call, signature, signature);
  }

  /// Forgets all calls.
  void new_run() noexcept {
    const std::lock_guard lock{mutex_};
    finder_.clear();
  }

  /// The latest calls as hashes; of the calls themselves only the names.
  std::string save() const {
    std::vector<std::string> calls;
    std::vector<std::string> wholes;
    std::vector<std::string> names;
    const std::lock_guard lock{mutex_};
    for (auto n = finder_.size(); n > 0; --n) {
      const auto& entry = finder_.before_end(n);
      calls.push_back(entry.call.text());
      wholes.push_back(entry.whole.text());
      names.push_back(entry.name);
    }
    return StateLine{kind}
               .add("calls", calls)
               .add("with_results", wholes)
               .add("names", names)
               .add("runs", finder_.runs())
               .text() +
           '\n';
  }
  /// Restores what was saved, also by a detector with other settings. Throws `std::invalid_argument` for text that `save` did not
  /// write, and changes nothing then.
  void restore(std::string_view text) {
    const auto line = saved_line(text, kind);
    const auto calls = detail::signatures_in(line, "calls");
    const auto wholes = detail::signatures_in(line, "with_results");
    auto names = line.texts("names");
    auto runs = line.counts("runs");
    const auto must_match = [&](std::string_view field, std::size_t size) {
      if (size != calls.size())
        refuse_setting(field, std::to_string(size) + " values",
                       "is invalid: there must be " + std::to_string(calls.size()) + ", one for each call");
    };
    must_match("with_results", wholes.size());
    must_match("names", names.size());
    must_match("runs", runs.size());
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < calls.size(); ++i)
      entries.push_back({calls[i], wholes[i], std::move(names[i])});
    const std::lock_guard lock{mutex_};
    finder_.restore(std::move(entries), std::move(runs));
  }

 private:
  static constexpr std::string_view kind{"loop_detector"};

  struct Entry {
    CallSignature call;
    CallSignature whole;  // including its result, if results matter
    std::string name;
    friend bool operator==(const Entry& a, const Entry& b) noexcept { return a.whole == b.whole; }
  };

  CallSignature signature_of(const IssuedCall& call) const {
    if (own_signature_ == nullptr || call.signature) return CallSignature{call};
    const auto own = own_signature_(call);
    return CallSignature{{.signature = own}};
  }
  void remember(const IssuedCall& call, const CallSignature& signature, const CallSignature& whole) {
    const auto name = call.name.empty() ? call.signature.value_or(call.name) : call.name;
    finder_.push({signature, whole, std::string{name.substr(0, 64)}});
  }
  LoopDetected detected(std::size_t length, std::string_view name) const {
    LoopDetected loop{{.reason = StopReason::loop_detected,
                       .to_model = not_called(
                           name, "the same calls are repeated in a loop. Do not make the same call again."),
                       .to_person = "loop detected:"}};
    loop.repeats = finder_.times(length);
    for (auto n = length; n > 0; --n) {
      loop.pattern.push_back(finder_.before_end(n).name);
      append_quoted(loop.to_person += ' ', loop.pattern.back());
    }
    loop.to_person += ", " + std::to_string(loop.repeats) + " times in a row";
    return loop;
  }

  const bool with_results_;
  std::string (*const own_signature_)(const IssuedCall&);
  mutable std::mutex mutex_;
  detail::CycleFinder<Entry> finder_;
};
static_assert(RunGuard<LoopDetector>);

}  // namespace encore ENCORE_BUILD

// Assembles calls from their records, in any order of lines.
#pragma once
#include <encore/analysis/traced_call.hpp>
#include <encore/detail/analysis/evicted_keys.hpp>
#include <encore/detail/analysis/open_call.hpp>
#include <encore/detail/lru_map.hpp>
#include <encore/setting.hpp>
#include <encore/telemetry/event_record.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace encore ENCORE_BUILD {

struct AssemblerOptions {
  Count<"max_calls", 1> max_calls = 10'000;  ///< stored at once, about 3 KB each
};

/// Collects the records of each call, identified by scope and id, and passes the call on when its id is used again, when it is
/// evicted for newer calls, or at the end. Ended calls are stored while there is room, so that clients' lines in a file read later
/// still reach them; the first to end is evicted first, then the oldest open call. An evicted open call is marked as evicted, and
/// later records of it form another call, marked as continued. Memory is bounded. Not thread-safe.
///   TraceAssembler calls;
///   while (...) calls.add(*record, [&](const TracedCall& call) { draw(call); });
///   calls.finish([&](const TracedCall& call) { draw(call); });
class TraceAssembler {
 public:
  explicit TraceAssembler(const AssemblerOptions& options = {}) : options_{options} {}

  /// Adds a record; `use` gets each call that is complete. A record without a call id becomes a call with an empty id.
  template <std::invocable<const TracedCall&> Use>
  void add(const EventRecord& record, Use&& use) {
    ++records_;
    if (!log_began_at_) log_began_at_ = record.wall;
    if (record.call_id.empty()) {
      detail::OpenCall nameless;
      nameless.note(record, records_);
      use(std::as_const(nameless.call()));
      return;
    }
    set_key(record.scope, record.call_id);
    auto id_reused = false;
    if (auto* const ended = ended_.find(key_)) {
      if (!record.kind) return ended->note(record, records_);  // a client's line
      // An inner call may have one id in all attempts of the outer one.
      id_reused = ended->call().outer_id.empty();
      use(std::as_const(ended_.take(key_).call()));
    }
    auto& open = open_one(use, begins_call(record), began_before_log(record));
    if (id_reused) open.mark_id_reused();
    const auto is_first = open.call().first_record == 0;
    open.note(record, records_);
    note_latest(open, is_first);
    if (record.kind && !open.counted_as()) count(open);
    if (open.call().finished) close(open, use);
  }

  /// Passes on the remaining calls, in the order of their last records.
  template <std::invocable<const TracedCall&> Use>
  void finish(Use&& use) {
    while (!open_.empty() || !ended_.empty()) {
      const auto ended_first = open_.empty() || (!ended_.empty() && ended_.oldest().call().last_record <
                                                                        open_.oldest().call().last_record);
      auto next = (ended_first ? ended_ : open_).take_oldest();
      uncount(next);
      use(std::as_const(next.call()));
    }
  }

  /// How many reported calls were evicted. Later records about them were not attributed to them.
  std::uint64_t evicted_count() const noexcept { return evicted_count_; }
  /// How many of these had not ended when they were evicted.
  std::uint64_t evicted_open_count() const noexcept { return evicted_open_count_; }

 private:
  static bool begins_call(const EventRecord& record) noexcept {
    return (record.kind == EventKind::attempt_started && record.ordinal <= 1) ||
           (record.kind == EventKind::call_finished &&
            record.ordinal == 0);  // refused before its first attempt
  }
  static std::string key_of(std::string_view scope, std::string_view id) {
    return std::string{scope}.append(1, '\n').append(id);
  }
  void set_key(std::string_view scope, std::string_view id) { key_.assign(scope).append(1, '\n').append(id); }

  /// A log may lack its beginning: an earlier file of a rotation, or dropped records.
  bool began_before_log(const EventRecord& record) const noexcept {
    return record.wall && record.elapsed && log_began_at_ &&
           later(*record.wall, -*record.elapsed) < *log_began_at_;
  }

  /// The open call of this key. For a new one, old calls may be evicted; unless it begins now, it may continue an evicted one.
  template <class Use>
  detail::OpenCall& open_one(Use& use, bool begins, bool began_before_log = false) {
    if (open_.find(key_) == nullptr) {
      const auto continued = !begins && (began_before_log || evicted_.may_contain(key_));
      while (open_.size() + ended_.size() >= static_cast<std::size_t>(options_.max_calls)) evict_oldest(use);
      if (continued) open_.touch(key_).mark_continued();
    }
    return open_.touch(key_);
  }
  template <class Use>
  void evict_oldest(Use& use) {
    auto oldest = (ended_.empty() ? open_ : ended_).take_oldest();
    uncount(oldest);
    const auto& call = oldest.call();
    if (!call.finished) oldest.mark_evicted();
    evicted_.add(key_of(call.scope, call.id));
    if (call.reported_by_policy && !call.continued) {
      ++evicted_count_;
      if (!call.finished) ++evicted_open_count_;
    }
    use(call);
  }

  template <class Use>
  void close(detail::OpenCall& open, Use& use) {
    uncount(open);
    const auto& call = open.call();
    const auto attempts = call.reported_attempt_count();
    const auto scope = call.scope;
    const auto outer_id = call.outer_id;
    const auto outer_ordinal = call.outer_ordinal;
    ended_.touch(key_) = open_.take(key_);
    if (outer_id.empty()) return;
    set_key(scope, outer_id);
    if (auto* const ended = ended_.find(key_))
      return ended->note_inner(scope, outer_id, outer_ordinal, attempts);
    open_one(use, false).note_inner(scope, outer_id, outer_ordinal, attempts);
  }

  // Stores the latest record of each tool and scope. `forgotten_` is an upper bound for those no longer stored.
  void note_latest(detail::OpenCall& open, bool is_first) {
    tool_key_.assign(open.call().scope).append(1, '\n').append(open.call().tool);
    auto* latest = latest_.find(tool_key_);
    if (is_first) open.follows(latest != nullptr ? *latest : forgotten_);
    if (latest == nullptr && latest_.size() >= max_latest) forgotten_ = latest_.take_oldest();
    latest_.touch(tool_key_) = records_;
  }

  // Counts the active calls of each tool and scope, as policies report them. Evicted open calls may still be active.
  void count(detail::OpenCall& open) {
    auto& number = active_[open.count_as()];
    if (number++ > 0 || evicted_open_count_ > 0) open.mark_not_alone();
  }
  void uncount(detail::OpenCall& open) {
    if (!open.counted_as()) return;
    const auto found = active_.find(*open.counted_as());
    if (found != active_.end() && --found->second == 0) active_.erase(found);
    open.stop_counting();
  }

  static constexpr std::size_t max_latest = 4'096;

  AssemblerOptions options_;
  detail::LruMap<detail::OpenCall> open_;
  detail::LruMap<detail::OpenCall> ended_;
  detail::EvictedKeys evicted_;
  std::unordered_map<std::string, int> active_;
  detail::LruMap<std::uint64_t> latest_;  // by scope and tool
  std::uint64_t forgotten_ = 0;
  std::string key_;
  std::string tool_key_;
  std::optional<WallTime> log_began_at_{};
  std::uint64_t records_ = 0;
  std::uint64_t evicted_count_ = 0;
  std::uint64_t evicted_open_count_ = 0;
};

}  // namespace encore ENCORE_BUILD

// A map ordered by last use, for evicting the least recently used value.
#pragma once
#include <encore/detail/attributes.hpp>

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace encore ENCORE_BUILD::detail {

/// A map from text to values that knows the least recently touched value. It has no limit: the caller removes the oldest. All
/// operations take constant time. Not thread-safe.
template <class Value>
class LruMap {
 public:
  std::size_t size() const noexcept { return by_key_.size(); }
  bool empty() const noexcept { return by_key_.empty(); }

  /// The value, or null. Does not touch it.
  Value* find(std::string_view key) {
    const auto found = by_key_.find(key);
    return found != by_key_.end() ? &found->second->value : nullptr;
  }
  /// The value, default-constructed if there is none. It becomes the newest.
  Value& touch(std::string_view key) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      in_order_.splice(in_order_.end(), in_order_, found->second);
    } else {
      in_order_.push_back({.key = std::string{key}});
      by_key_.emplace(in_order_.back().key, std::prev(in_order_.end()));
    }
    return in_order_.back().value;
  }
  /// The map must not be empty.
  const Value& oldest() const noexcept { return in_order_.front().value; }
  Value take(std::string_view key) { return take(by_key_.find(key)->second); }
  Value take_oldest() { return take(in_order_.begin()); }

 private:
  struct Node {
    std::string key;
    Value value{};
  };
  using Position = typename std::list<Node>::iterator;

  Value take(Position position) {
    auto value = std::move(position->value);
    by_key_.erase(position->key);
    in_order_.erase(position);
    return value;
  }

  std::list<Node> in_order_;
  std::unordered_map<std::string_view, Position> by_key_;  // the keys are those of the nodes
};

}  // namespace ENCORE_BUILD::detail

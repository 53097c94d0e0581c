// Values by name, in the order in which they were last touched, so that the one nobody missed can make way.
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

/// A map of text to values that knows which was touched least recently. It does not limit itself: whoever fills it takes the
/// oldest out. Everything is constant in time. One thread at a time.
template <class Value>
class LruMap {
 public:
  std::size_t size() const noexcept { return by_key_.size(); }
  bool empty() const noexcept { return by_key_.empty(); }

  /// Null if there is none. Does not touch it.
  Value* find(std::string_view key) {
    const auto found = by_key_.find(key);
    return found != by_key_.end() ? &found->second->value : nullptr;
  }
  /// The value of this key, made by default if there is none; it is the newest now.
  Value& touch(std::string_view key) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      in_order_.splice(in_order_.end(), in_order_, found->second);
    } else {
      in_order_.push_back({.key = std::string{key}});
      by_key_.emplace(in_order_.back().key, std::prev(in_order_.end()));
    }
    return in_order_.back().value;
  }
  /// There must be one.
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

// A call that owns what it says, for those who outlive their caller: a coroutine's frame, a job.
#pragma once
#include <encore/call.hpp>
#include <encore/engine/owned_stop.hpp>
#include <encore/scope.hpp>
#include <encore/stop.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace encore ENCORE_BUILD {

/// A copy of a call with its texts, its stop token and its scope. Texts of up to `room` bytes together are kept without
/// allocating. `outer` is still referred to. Move-only.
class OwnedCall {
 public:
  static constexpr std::size_t room = 120;

  explicit OwnedCall(const Call& call)
      : call_{call},
        stop_{call.stop},
        scope_{call.scope != nullptr ? *call.scope : Scope{0, 0}} {
    const auto size = call.id.size() + call.name.size() + call.resolved_name.size() +
                      call.operation_key.size() + call.signature.size();
    if (size > room) [[unlikely]]
      elsewhere_ = std::make_unique_for_overwrite<char[]>(size);
    auto* to = elsewhere_ != nullptr ? elsewhere_.get() : here_.data();
    to = take(call_.id, to);
    to = take(call_.name, to);
    to = take(call_.resolved_name, to);
    to = take(call_.operation_key, to);
    take(call_.signature, to);
    settle();
  }
  OwnedCall(OwnedCall&& other) noexcept
      : call_{other.call_},
        stop_{other.stop_},
        scope_{other.scope_},
        elsewhere_{std::move(other.elsewhere_)},
        here_{other.here_} {
    if (elsewhere_ == nullptr) {
      auto* to = here_.data();
      for (auto* const text :
           {&call_.id, &call_.name, &call_.resolved_name, &call_.operation_key, &call_.signature}) {
        *text = {to, text->size()};
        to += text->size();
      }
    }
    settle();
  }
  OwnedCall& operator=(OwnedCall&&) = delete;
  ~OwnedCall() = default;

  /// The call, as views into this object: valid as long as it stays where it is.
  const Call& view() const noexcept { return call_; }

 private:
  static char* take(std::string_view& text, char* to) noexcept {
    const auto from = std::exchange(text, {to, text.size()});
    return from.empty() ? to : std::copy_n(from.data(), from.size(), to);
  }
  void settle() noexcept {
    if (call_.stop.watches()) call_.stop = stop_.view();
    if (call_.scope != nullptr) call_.scope = &scope_;
  }

  Call call_;
  OwnedStop stop_;
  Scope scope_;  // where the call has one
  std::unique_ptr<char[]> elsewhere_{};
  std::array<char, room> here_;
};

}  // namespace encore ENCORE_BUILD

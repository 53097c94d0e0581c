// A call that owns what it says, for those who outlive their caller: a coroutine's frame, a job.
#pragma once
#include <encore/call.hpp>
#include <encore/stop.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace encore {

/// A copy of a call with its texts, its stop token and its scope. Texts of up to `room` bytes together are kept without
/// allocating. `outer` is still referred to. Move-only.
class OwnedCall {
 public:
  static constexpr std::size_t room = 120;

  explicit OwnedCall(const Call& call)
      : sizes_{call.id.size(), call.name.size(), call.resolved_name.size(), call.operation_key.size()},
        rest_{call},
        stop_{call.stop},
        scope_{call.scope != nullptr ? *call.scope : Scope{0, 0}} {
    const auto size = sizes_[0] + sizes_[1] + sizes_[2] + sizes_[3];
    if (size > room) elsewhere_ = std::make_unique_for_overwrite<char[]>(size);
    auto* to = elsewhere_ != nullptr ? elsewhere_.get() : here_.data();
    for (const auto text : {call.id, call.name, call.resolved_name, call.operation_key})
      to = std::copy_n(text.data(), text.size(), to);
  }
  OwnedCall(OwnedCall&&) noexcept = default;
  OwnedCall& operator=(OwnedCall&&) = delete;

  /// The call, as views into this object: valid as long as it stays where it is.
  Call view() const noexcept {
    auto call = rest_;
    const char* from = elsewhere_ != nullptr ? elsewhere_.get() : here_.data();
    const auto next = [&](std::size_t size) {
      return std::string_view{std::exchange(from, from + size), size};
    };
    call.id = next(sizes_[0]);
    call.name = next(sizes_[1]);
    call.resolved_name = next(sizes_[2]);
    call.operation_key = next(sizes_[3]);
    call.stop = stop_.view();
    if (call.scope != nullptr) call.scope = &scope_;
    return call;
  }

 private:
  std::array<std::size_t, 4> sizes_;
  Call rest_;  // all but the texts, the token and the scope
  OwnedStop stop_;
  Scope scope_;  // where the call has one
  std::unique_ptr<char[]> elsewhere_{};
  std::array<char, room> here_;
};

}  // namespace encore

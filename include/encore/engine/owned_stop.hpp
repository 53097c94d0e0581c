// A stop token that is kept for those who outlive the caller's.
#pragma once
#include <encore/stop.hpp>

#include <cstddef>

namespace encore {

/// A copy of the token behind a view, for those who outlive the caller's token: a coroutine's frame, say.
class OwnedStop {
 public:
  explicit OwnedStop(const StopView& stop) noexcept : operations_{stop.operations_} {
    if (operations_ != nullptr) operations_->copy(stop.token_, room_);
  }
  OwnedStop(const OwnedStop& other) noexcept : OwnedStop{other.view()} {}
  OwnedStop& operator=(const OwnedStop&) = delete;
  ~OwnedStop() {
    if (operations_ != nullptr) operations_->destroy(room_);
  }
  /// Valid as long as this object stays where it is.
  [[nodiscard]] StopView view() const noexcept {
    StopView view;
    if (operations_ != nullptr) {
      view.token_ = room_;
      view.operations_ = operations_;
    }
    return view;
  }

 private:
  const shared::StopOperations* operations_;
  alignas(void*) std::byte room_[shared::stop_token_room];
};

}  // namespace encore

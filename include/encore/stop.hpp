// Stopping from outside: a view of any stop token, and the means to be told by it.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/duration.hpp>

#include <concepts>
#include <cstddef>

namespace encore {

class StopView;

/// What a stop callback is made of here: a plain function and its argument.
struct StopAction {
  void (*act)(void*) noexcept;
  void* argument;
  void operator()() const noexcept { act(argument); }
};

namespace shared {

template <class T>
concept AsksToStop = requires(const T& token) {
  { token.stop_requested() } -> std::convertible_to<bool>;
  { token.stop_possible() } -> std::convertible_to<bool>;
};

struct StopOperations {
  bool (*requested)(const void* token) noexcept;
  bool (*possible)(const void* token) noexcept;
  void (*subscribe)(const void* token, void* room, StopAction action);
  void (*unsubscribe)(void* room) noexcept;
  void (*copy)(const void* token, void* room) noexcept;
  void (*destroy)(void* room) noexcept;
  void (*wait_for)(Duration, const StopView&);  // in real time, until a stop is requested
};
inline constexpr std::size_t stop_callback_room = 128;
inline constexpr std::size_t stop_token_room = 2 * sizeof(void*);

// The operations of a type of tokens, in <encore/stop_token.hpp>: they are dear to include, and most calls bring no token.
template <class Token>
struct TokenOperations;

}  // namespace shared

/// A view of a stop token of any type; the token must outlive it, so a temporary one is refused. Who makes one includes
/// `<encore/stop_token.hpp>`, as `<encore/encore.hpp>` does. Default-made it never asks to stop. As thread-safe as the token itself.
class StopView {
 public:
  constexpr StopView() noexcept = default;
  template <class Token>
    requires(!std::same_as<Token, StopView> && shared::AsksToStop<Token>)
  constexpr StopView(const Token& token) noexcept : token_{shared::address_of(token)} {
    constexpr bool known = requires { sizeof(shared::TokenOperations<Token>); };
    static_assert(known, "a call that brings a stop token needs: #include <encore/stop_token.hpp>");
    if constexpr (known) operations_ = &shared::TokenOperations<Token>::all;
  }
  template <class Token>
    requires(!std::same_as<Token, StopView> && shared::AsksToStop<Token>)
  constexpr StopView(const Token&&) noexcept {
    static_assert(!shared::AsksToStop<Token>,
                  "a call only views its stop token: give the token a name, so that it outlives the call");
  }

  [[nodiscard]] bool stop_requested() const noexcept {
    return operations_ != nullptr && operations_->requested(token_);
  }
  [[nodiscard]] bool stop_possible() const noexcept {
    return operations_ != nullptr && operations_->possible(token_);
  }
  /// True if it views a token at all; costs nothing to ask.
  [[nodiscard]] constexpr bool watches() const noexcept { return operations_ != nullptr; }

 private:
  friend class SteadyClock;
  friend class StopSubscription;
  friend class OwnedStop;

  const void* token_ = nullptr;
  const shared::StopOperations* operations_ = nullptr;
};

/// Calls `action` once when a stop is requested, at once if it was already; not after the destructor has returned.
/// The action may run on the thread that requests the stop.
class StopSubscription {
 public:
  StopSubscription(const StopView& stop, StopAction action) : operations_{stop.operations_} {
    if (operations_ != nullptr) operations_->subscribe(stop.token_, room_, action);
  }
  StopSubscription(const StopSubscription&) = delete;
  StopSubscription& operator=(const StopSubscription&) = delete;
  ~StopSubscription() {
    if (operations_ != nullptr) operations_->unsubscribe(room_);
  }

 private:
  const shared::StopOperations* operations_;
  alignas(std::max_align_t) std::byte room_[shared::stop_callback_room];
};

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

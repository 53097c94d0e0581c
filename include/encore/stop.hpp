// Stopping from outside: a view of any stop token, and the means to be woken by it.
#pragma once
#include <encore/address_of.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <version>
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

namespace encore {

/// The callback type that belongs to a stop token: `Token::callback_type<Function>` as in P2300, or a specialisation of
/// this trait for a token of one's own.
template <class Token, class Function>
struct stop_callback_for {};
template <class Token, class Function>
  requires requires { typename Token::template callback_type<Function>; }
struct stop_callback_for<Token, Function> {
  using type = typename Token::template callback_type<Function>;
};
#if defined(__cpp_lib_jthread)
template <class Function>
struct stop_callback_for<std::stop_token, Function> {
  using type = std::stop_callback<Function>;
};
#endif

/// What a stop callback is made of here: a plain function and its argument.
struct StopAction {
  void (*act)(void*) noexcept;
  void* argument;
  void operator()() const noexcept { act(argument); }
};

/// A token says whether a stop was requested or ever can be, is cheap to copy, and calls back when it happens. (L4)
/// `std::stop_token` is one; a token from another library joins by its nested `callback_type`.
template <class T>
concept StopToken =
    requires(const T& token) {
      { token.stop_requested() } -> std::convertible_to<bool>;
      { token.stop_possible() } -> std::convertible_to<bool>;
      typename stop_callback_for<T, StopAction>::type;
    } && std::copy_constructible<T> &&
    std::constructible_from<typename stop_callback_for<T, StopAction>::type, T, StopAction>;
#if defined(__cpp_lib_jthread)
static_assert(StopToken<std::stop_token>);
#endif

/// A view of a stop token of any type; the token must outlive it, so a temporary one is refused.
/// Default-made it never asks to stop. As thread-safe as the token itself.
class StopView {
 public:
  constexpr StopView() noexcept = default;
  template <class Token>
    requires(!std::same_as<Token, StopView> && StopToken<Token>)
  constexpr StopView(const Token& token) noexcept
      : token_{detail::address_of(token)},
        operations_{&operations_for<Token>} {}
  template <class Token>
    requires(!std::same_as<Token, StopView> && StopToken<Token>)
  constexpr StopView(const Token&& token) noexcept : StopView{token} {
    static_assert(!StopToken<Token>,
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
  friend class StopSubscription;
  friend class OwnedStop;
  static constexpr std::size_t callback_room = 128;
  static constexpr std::size_t token_room = 2 * sizeof(void*);

  struct Operations {
    bool (*requested)(const void*) noexcept;
    bool (*possible)(const void*) noexcept;
    void (*subscribe)(const void* token, void* room, StopAction action);
    void (*unsubscribe)(void* room) noexcept;
    void (*copy)(const void* token, void* room) noexcept;
    void (*destroy)(void* room) noexcept;
  };
  template <class Token>
  static constexpr Operations make_operations() noexcept {
    using Callback = typename stop_callback_for<Token, StopAction>::type;
    static_assert(sizeof(Callback) <= callback_room && alignof(Callback) <= alignof(std::max_align_t),
                  "this token's callback type is larger than encore's room for it");
    static_assert(sizeof(Token) <= token_room && alignof(Token) <= alignof(void*),
                  "a stop token is at most two pointers large");
    return {
        [](const void* token) noexcept -> bool { return static_cast<const Token*>(token)->stop_requested(); },
        [](const void* token) noexcept -> bool { return static_cast<const Token*>(token)->stop_possible(); },
        [](const void* token, void* room, StopAction action) {
          ::new (room) Callback(*static_cast<const Token*>(token), action);
        },
        [](void* room) noexcept { static_cast<Callback*>(room)->~Callback(); },
        [](const void* token, void* room) noexcept { ::new (room) Token(*static_cast<const Token*>(token)); },
        [](void* room) noexcept { static_cast<Token*>(room)->~Token(); }};
  }
  template <class Token>
  static constexpr Operations operations_for = make_operations<Token>();

  const void* token_ = nullptr;
  const Operations* operations_ = nullptr;
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
  const StopView::Operations* operations_;
  alignas(std::max_align_t) std::byte room_[StopView::callback_room];
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
  const StopView::Operations* operations_;
  alignas(void*) std::byte room_[StopView::token_room];
};

}  // namespace encore

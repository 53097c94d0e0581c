// Stop requests from outside: a view of any stop token.
#pragma once
#include <encore/detail/address_of.hpp>
#include <encore/duration.hpp>

#include <concepts>
#include <cstddef>

namespace encore {

class StopView;

/// A stop callback: a plain function and its argument.
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

// The operations of a token type, in <encore/stop_token.hpp>, which is slow to compile; most calls have no token.
template <class Token>
struct TokenOperations;

}  // namespace shared

/// A view of a stop token of any type. The token must outlive it, so a temporary does not compile. Making one needs
/// `<encore/stop_token.hpp>`, which `<encore/encore.hpp>` includes. Default-constructed, it never requests a stop. As
/// thread-safe as the token.
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
  /// Whether it views a token.
  [[nodiscard]] constexpr bool watches() const noexcept { return operations_ != nullptr; }

 private:
  friend class SteadyClock;
  friend class StopSubscription;
  friend class OwnedStop;

  const void* token_ = nullptr;
  const shared::StopOperations* operations_ = nullptr;
};

}  // namespace encore

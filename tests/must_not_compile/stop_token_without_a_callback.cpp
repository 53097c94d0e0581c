// EXPECT: this token has no callback type: give it a nested `callback_type<Function>` as in P2300, or specialise encore::stop_callback_for
#include <encore/call.hpp>
#include <encore/stop_token.hpp>

struct Token {
  bool stop_requested() const noexcept { return false; }
  bool stop_possible() const noexcept { return true; }
#ifdef ENCORE_FIXED
  template <class F>
  struct callback_type {
    callback_type(Token, F) {}
  };
#endif
};

bool test(const Token& token) {
  const encore::Call call{.stop = token};
  return call.stop.stop_requested();
}

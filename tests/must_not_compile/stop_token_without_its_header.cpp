// EXPECT: a call that brings a stop token needs: #include <encore/stop_token.hpp>
#include <encore/call.hpp>
#ifdef ENCORE_FIXED
#include <encore/stop_token.hpp>
#endif

#include <stop_token>

bool test(const std::stop_token& token) {
  const encore::Call call{.stop = token};
  return call.stop.stop_requested();
}

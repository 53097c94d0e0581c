// EXPECT: a call only views its stop token: give the token a name, so that it outlives the call
#include <encore/call.hpp>
#include <encore/stop_token.hpp>

#include <stop_token>

bool test(const std::stop_source& source) {
#ifdef ENCORE_FIXED
  const auto token = source.get_token();
  const encore::Call call{.stop = token};
#else
  const encore::Call call{.stop = source.get_token()};
#endif
  return call.stop.stop_requested();
}

// EXPECT: the function of HintFrom returns a duration, a `std::chrono::sys_time`, or an optional of either
#include <encore/hint.hpp>

struct HttpError {
  int wait = 3;
};

#ifdef ENCORE_FIXED
inline const encore::HintFrom hint{[](const HttpError& error) { return std::chrono::seconds{error.wait}; }};
#else
inline const encore::HintFrom hint{[](const HttpError& error) { return error.wait; }};
#endif

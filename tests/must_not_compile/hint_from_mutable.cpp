// EXPECT: HintFrom calls its function, as const, with one argument
#include <encore/hint.hpp>

struct HttpError {
  std::chrono::seconds wait{3};
};

#ifdef ENCORE_FIXED
inline const encore::HintFrom hint{[](const HttpError& error) { return error.wait; }};
#else
inline const encore::HintFrom hint{
    [asked = 0](const HttpError& error) mutable { return error.wait * ++asked; }};
#endif

// EXPECT: this function of OnUnknownOutcome returns a coroutine or future
#include <encore/agent/unknown_outcome.hpp>

#include <future>

#ifdef ENCORE_FIXED
inline const encore::OnUnknownOutcome test{
    [](const encore::UnknownOutcome&) { std::async(std::launch::deferred, [] { return 17; }).wait(); }};
#else
inline const encore::OnUnknownOutcome test{
    [](const encore::UnknownOutcome&) { return std::async(std::launch::deferred, [] { return 17; }); }};
#endif

// EXPECT: this observer returns a coroutine or future that nobody awaits
#include <encore/observer.hpp>

#include <future>

#ifdef ENCORE_FIXED
inline const encore::Observe test{
    [](const encore::Event&) { std::async(std::launch::deferred, [] { return 17; }).wait(); }};
#else
inline const encore::Observe test{
    [](const encore::Event&) { return std::async(std::launch::deferred, [] { return 17; }); }};
#endif

// EXPECT: this function of OnKeyReused returns a coroutine or future
#include <encore/agent/key_reuse.hpp>

#include <future>

#ifdef ENCORE_FIXED
inline const encore::OnKeyReused test{
    [](const encore::KeyReuse&) { std::async(std::launch::deferred, [] { return 17; }).wait(); }};
#else
inline const encore::OnKeyReused test{
    [](const encore::KeyReuse&) { return std::async(std::launch::deferred, [] { return 17; }); }};
#endif

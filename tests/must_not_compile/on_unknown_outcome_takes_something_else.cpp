// EXPECT: OnUnknownOutcome takes a function of `const UnknownOutcome&`
#include <encore/agent/unknown_outcome.hpp>

#ifdef ENCORE_FIXED
inline const encore::OnUnknownOutcome hears{[](const encore::UnknownOutcome&) {}};
#else
inline const encore::OnUnknownOutcome hears{[](int) {}};
#endif

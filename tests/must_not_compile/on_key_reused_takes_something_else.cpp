// EXPECT: OnKeyReused takes a function of `const KeyReuse&`
#include <encore/agent/tool_retry.hpp>

#ifdef ENCORE_FIXED
inline const encore::OnKeyReused hears{[](const encore::KeyReuse&) {}};
#else
inline const encore::OnKeyReused hears{[](int) {}};
#endif

// Spans of time as people read them.
#pragma once
#include <string>

/// To three digits, in the unit that fits: 250 µs, 1.5 s, 2 min 5 s, 3 h 20 min, 2 d 4 h. For lengths of 0 or more.
std::string span_text(double seconds);

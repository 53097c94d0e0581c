#include <encore/version.hpp>

const encore::Version* version_seen_by_the_other_unit();

const encore::Version* version_seen_by_the_other_unit() { return &encore::version; }

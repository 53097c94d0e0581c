// Two translation units that include everything link into one program and share what must be one object.
#include <encore/version.hpp>

const encore::Version* version_seen_by_the_other_unit();

int main() { return version_seen_by_the_other_unit() == &encore::version ? 0 : 1; }

#include <encore/analysis/trace_fields.hpp>
#include <encore/detail/analysis/record_reader.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <set>
#include <string>

namespace {

TEST_CASE("each trace field has a meaning, and no two have the same default name", "[trace_fields]") {
  const encore::TraceFields fields;
  std::set<std::string> names;
  std::size_t own = 0;
  for (const auto& meaning : encore::detail::field_meanings) {
    names.insert(fields.*meaning.name);
    if ((fields.*meaning.name).starts_with("encore.")) ++own;
  }
  CHECK(names.size() == encore::detail::field_meanings.size());
  // All but the timestamp, and what others have names for: the call's id, the tool, the error, its code and its text.
  CHECK(own == names.size() - 6);
  CHECK(sizeof fields >= names.size() * sizeof(std::string));
  CHECK(sizeof fields < (names.size() + 1) * sizeof(std::string));  // no name without a meaning
}

}  // namespace

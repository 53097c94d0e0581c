#include <encore/telemetry/event_record.hpp>

#include <catch2/catch_test_macros.hpp>

#include <set>
#include <string_view>

namespace {

using encore::EventRecord;

// OpenTelemetry's semantic conventions, registry of attributes: gen_ai, error, exception.
static_assert(encore::detail::field_names<&EventRecord::call_id>.first.json == "gen_ai.tool.call.id");
static_assert(encore::detail::field_names<&EventRecord::call_name>.first.json == "gen_ai.tool.name");
static_assert(encore::detail::field_names<&EventRecord::error_type>.first.json == "error.type");
static_assert(encore::detail::field_names<&EventRecord::message>.first.json == "exception.message");
// The Elastic Common Schema has what these have not: error.
static_assert(encore::detail::field_names<&EventRecord::error_code>.first.json == "error.code");

/// Calls `use` with the names of all fields that lines contain.
template <class Use>
void each_name(Use use) {
  use(encore::detail::resend_count_names);
  encore::detail::for_each_field([&](const auto& field) {
    if (!field.names.json.empty()) use(field.names);
    if (field.names_at_end.json != field.names.json) use(field.names_at_end);
  });
}

TEST_CASE("names of our own have a prefix of their own, and clash with no other library's names",
          "[event_record]") {
  int others = 0;
  each_name([&](const encore::FieldNames& names) { others += names.json.starts_with("encore.") ? 0 : 1; });
  CHECK(others == 6);  // the five above, and the timestamp
}

TEST_CASE("no two fields of one line have the same name, and those of logfmt need no quotes",
          "[event_record]") {
  std::set<std::string_view> json;
  std::set<std::string_view> logfmt;
  each_name([&](const encore::FieldNames& names) {
    CAPTURE(names.json);
    CHECK(json.insert(names.json).second);
    if (names.logfmt.empty()) return;
    CHECK(logfmt.insert(names.logfmt).second);
    CHECK(encore::reads_plain(names.logfmt));
  });
}

}  // namespace

#include <encore/telemetry/log_field.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace {

using encore::FieldNames;
namespace field = encore::log_field;

// OpenTelemetry's semantic conventions, registry of attributes: gen_ai, error, exception.
static_assert(field::call.json == "gen_ai.tool.call.id");
static_assert(field::tool.json == "gen_ai.tool.name");
static_assert(field::error.json == "error.type");
static_assert(field::message.json == "exception.message");

constexpr std::array own{field::scope,
                         field::event,
                         field::resolved,
                         field::attempt,
                         field::resend_count,
                         field::attempts,
                         field::max_attempts,
                         field::status,
                         field::request_id,
                         field::dispatched,
                         field::dispatched_again,
                         field::answered,
                         field::not_run,
                         field::will_retry,
                         field::retry_in,
                         field::hint,
                         field::reason,
                         field::mode,
                         field::slept,
                         field::elapsed,
                         field::observer_errors,
                         field::outer_call,
                         field::outer_attempt,
                         field::error_result,
                         field::outcome_unknown,
                         field::max_requests,
                         field::key_used,
                         field::remaining,
                         field::took};

// All other names stand in one name space, which cannot meet another library's.
static_assert([] {
  for (const auto& names : own) {
    if (!names.json.starts_with("encore.")) return false;
  }
  return true;
}());

// No two fields of one line have the same name.
static_assert([] {
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (own[i].json == own[j].json) return false;
      if (!own[i].logfmt.empty() && own[i].logfmt == own[j].logfmt) return false;
    }
  }
  return true;
}());

// The names of logfmt are words that need no quotes.
static_assert([] {
  for (const auto& names : own) {
    if (!names.logfmt.empty() && !encore::reads_plain(names.logfmt)) return false;
  }
  return true;
}());

}  // namespace

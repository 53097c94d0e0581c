// The names of the fields in logs: one table, so that all lines agree.
#pragma once
#include <encore/detail/attributes.hpp>
#include <encore/telemetry/log_line.hpp>

namespace encore ENCORE_BUILD {

/// The names of all fields. JSON follows OpenTelemetry's semantic conventions where they have a name, and has the rest under
/// `encore.`; logfmt is short. Durations are in seconds. What is not known is left out.
namespace log_field {
inline constexpr FieldNames timestamp{"", "timestamp"};
inline constexpr FieldNames scope{"", "encore.scope"};
inline constexpr FieldNames event{"event", "encore.event"};
inline constexpr FieldNames call{"call", "gen_ai.tool.call.id"};
inline constexpr FieldNames tool{"tool", "gen_ai.tool.name"};
inline constexpr FieldNames resolved{"resolved", "encore.tool.resolved_name"};
inline constexpr FieldNames attempt_of_all{"attempt", ""};  ///< 1/3, or 1 if unlimited
inline constexpr FieldNames attempt{"", "encore.attempt"};
inline constexpr FieldNames resend_count{
    "", "encore.resend_count"};  ///< as `http.request.resend_count`, on retries
inline constexpr FieldNames attempts_of_all{"attempts", ""};
inline constexpr FieldNames attempts{"", "encore.attempts"};  ///< how many were made, once the call is over
inline constexpr FieldNames max_attempts{"", "encore.max_attempts"};
inline constexpr FieldNames max_requests{"max_requests",
                                         "encore.max_requests"};  ///< with a layer inside that retries
inline constexpr FieldNames error{"error", "error.type"};
inline constexpr FieldNames message{"message", "exception.message"};
inline constexpr FieldNames status{"status", "encore.response.status"};
inline constexpr FieldNames request_id{"request_id", "encore.response.request_id"};
inline constexpr FieldNames dispatched{"dispatched", "encore.dispatched"};
inline constexpr FieldNames dispatched_again{"dispatched_again", "encore.dispatched_again"};
inline constexpr FieldNames answered{"answered", "encore.answered"};
inline constexpr FieldNames not_run{"not_run", "encore.not_run"};
inline constexpr FieldNames key_used{"", "encore.key_used"};  ///< the idempotency key was asked for
inline constexpr FieldNames error_result{"error_result", "encore.error_result"};  ///< returned, not thrown
inline constexpr FieldNames will_retry{"", "encore.will_retry"};
inline constexpr FieldNames retry_in{"retry_in", "encore.retry_in"};
inline constexpr FieldNames hint{"hint", "encore.hint"};
inline constexpr FieldNames reason{"reason", "encore.reason"};
inline constexpr FieldNames outcome_unknown{"outcome_unknown", "encore.outcome_unknown"};
inline constexpr FieldNames mode{"mode", "encore.mode"};
inline constexpr FieldNames slept{"slept", "encore.slept"};
inline constexpr FieldNames elapsed{"elapsed", "encore.elapsed"};
inline constexpr FieldNames elapsed_so_far{"", "encore.elapsed"};  ///< before the call is over
inline constexpr FieldNames took{"", "encore.took"};               ///< an attempt of which no policy told
inline constexpr FieldNames remaining{"", "encore.remaining"};     ///< until the call's time limit
inline constexpr FieldNames observer_errors{"observer_errors", "encore.observer_errors"};
inline constexpr FieldNames outer_call{"outer_call", "encore.outer.call.id"};
inline constexpr FieldNames outer_attempt{"outer_attempt", "encore.outer.attempt"};
}  // namespace log_field

}  // namespace encore ENCORE_BUILD

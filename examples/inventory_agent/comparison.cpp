#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

using encore::EventKind;
using encore::EventRecord;
using encore::testing::Recording;

namespace {

constexpr int dashboard_width = 22;
constexpr int trace_width = 62;

Recording ended_attempts(const Recording& trace) {
  Recording ended;
  std::copy_if(trace.begin(), trace.end(), std::back_inserter(ended), [](const EventRecord& event) {
    return event.kind == EventKind::attempt_failed || event.kind == EventKind::attempt_succeeded;
  });
  return ended;
}

std::vector<Request> requests_of(const std::vector<Request>& requests, std::string_view call_id) {
  std::vector<Request> found;
  std::copy_if(requests.begin(), requests.end(), std::back_inserter(found),
               [&](const Request& request) { return request.call_id == call_id; });
  return found;
}

double seconds(encore::Duration duration) { return std::chrono::duration<double>{duration}.count(); }

std::string text_of(const EventRecord& attempt) {
  auto text = fmt::format("{}/{} ", attempt.ordinal, attempt.max_attempts.value_or(0));
  if (attempt.status) text += fmt::format("{} ", *attempt.status);
  if (attempt.kind == EventKind::attempt_succeeded) return text + "succeeded";
  text += attempt.error_type;
  text += attempt.will_retry ? fmt::format(", again in {:.2f} s", seconds(attempt.wait))
                             : fmt::format(", {}", to_string(attempt.reason));
  return attempt.hint ? text + fmt::format(" (asked: {:g} s)", seconds(*attempt.hint)) : text;
}

std::string text_of(const Request& request) {
  return fmt::format("{:<6} {} attempt {}: {}", request.id, request.call_id, request.ordinal,
                     to_string(request.answer));
}

void print_row(std::string_view dashboard, std::string_view trace, std::string_view backend) {
  fmt::print("{:<{}}{:<{}}{}\n", dashboard, dashboard_width, trace, trace_width, backend);
}

bool print_point(bool holds, std::string_view point) {
  fmt::print("  {:<5}{}\n", holds ? "yes" : "NO", point);
  return holds;
}

/// Does it hold for each call?
template <class Holds>
bool for_each_call(const Records& records, Holds&& holds) {
  return std::all_of(records.calls.begin(), records.calls.end(), [&](const ToolCall& call) {
    return holds(ended_attempts(records.trace.of(call.id)), requests_of(records.requests, call.id));
  });
}

bool run_from_one(const std::vector<Request>& requests) {
  int expected = 0;
  return std::all_of(requests.begin(), requests.end(),
                     [&](const Request& request) { return request.ordinal == ++expected; });
}

bool same_attempts(const Recording& attempts, const std::vector<Request>& requests) {
  return std::equal(
      attempts.begin(), attempts.end(), requests.begin(), requests.end(),
      [](const EventRecord& attempt, const Request& request) { return attempt.ordinal == request.ordinal; });
}

/// Where an answer came, both know it by the same id and status.
bool same_answers(const Recording& attempts, const std::vector<Request>& requests) {
  return std::all_of(attempts.begin(), attempts.end(), [&](const EventRecord& attempt) {
    if (!attempt.answered) return true;
    return std::any_of(requests.begin(), requests.end(), [&](const Request& request) {
      const auto& answer = request.answer;
      const auto status = answer.kind == Answer::Kind::units ? 200 : answer.number;
      return request.id == attempt.request_id && request.ordinal == attempt.ordinal &&
             attempt.status == status;
    });
  });
}

bool one_key_a_call(const Records& records) {
  std::set<std::string> keys;
  return for_each_call(records, [&](const Recording&, const std::vector<Request>& requests) {
    if (requests.empty()) return true;
    const auto& key = requests.front().idempotency_key;
    return !key.empty() && keys.insert(key).second &&
           std::all_of(requests.begin(), requests.end(),
                       [&](const Request& r) { return r.idempotency_key == key; });
  });
}

bool all_belong_to_calls(const Records& records) {
  return std::all_of(records.requests.begin(), records.requests.end(), [&](const Request& request) {
    return std::any_of(records.calls.begin(), records.calls.end(),
                       [&](const ToolCall& call) { return call.id == request.call_id; });
  });
}

}  // namespace

void print_side_by_side(const Records& records) {
  print_row("THE DASHBOARD: calls", "ENCORE'S TRACE: attempts", "THE BACKEND'S LOG: requests");
  for (std::size_t i = 0; i < records.calls.size(); ++i) {
    const auto& call = records.calls[i];
    const auto attempts = ended_attempts(records.trace.of(call.id));
    const auto requests = requests_of(records.requests, call.id);
    const auto rows = std::max({attempts.size(), requests.size(), std::size_t{1}});
    for (std::size_t row = 0; row < rows; ++row) {
      print_row(
          row == 0 ? fmt::format("{} {} {}", call.id, call.sku, records.messages[i].is_error ? "error" : "ok")
                   : "",
          row < attempts.size() ? text_of(attempts[row]) : "",
          row < requests.size() ? text_of(requests[row]) : "");
    }
  }
  print_row(fmt::format("{} calls", records.calls.size()),
            fmt::format("{} attempts", ended_attempts(records.trace).size()),
            fmt::format("{} requests", records.requests.size()));
}

bool print_agreement(const Records& records) {
  fmt::print("Do the trace and the backend's log agree?\n");
  auto agree = print_point(for_each_call(records, same_attempts),
                           "each attempt of a call is one request with the call's id");
  agree &= print_point(all_belong_to_calls(records), "each request belongs to a call that the model made");
  agree &= print_point(
      for_each_call(records, [](const Recording&, const auto& requests) { return run_from_one(requests); }),
      "the ordinals of a call's requests are 1, 2, 3 ... without a gap");
  agree &= print_point(for_each_call(records, same_answers),
                       "each answer has the same status and request id on both sides");
  agree &= print_point(one_key_a_call(records),
                       "all requests of a call carry one idempotency key, and no other call's do");
  return agree;
}

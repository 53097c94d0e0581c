#include "lane_details.hpp"

#include "html_text.hpp"
#include "span_text.hpp"
#include <encore/stop_reason.hpp>
#include <encore/telemetry/time_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace {

std::string span_text(encore::Duration duration) {
  return ::span_text(static_cast<double>(duration.count()) / 1e9);
}

/// not_retryable: not retryable
std::string in_words(std::string_view name) {
  std::string words{name};
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

struct End {
  std::string_view sign;
  std::string words;
};

End end_of(const encore::TracedCall& call) {
  const auto& reported = call.reported_attempts();
  const auto last = reported.empty() ? encore::AttemptEnd::unknown : reported.back().end;
  if (call.reported_by_policy && !call.finished) return {"&#8230;", "no end logged"};
  if (call.finished && call.error_type.empty()) {
    if (!reported.empty() && reported.back().error_result) return {"!", "returned an error"};
    return {"&#10003;", "succeeded"};
  }
  if (!call.finished && last == encore::AttemptEnd::succeeded) return {"&#10003;", "succeeded"};
  const auto why = call.finished ? in_words(to_string(call.reason)) : std::string{"failed"};
  return {call.outcome_unknown ? "?" : "&#10007;", why};
}

std::string facts(const encore::TracedAttempt& attempt) {
  std::string text;
  const auto add = [&](std::string_view fact) { text.append(text.empty() ? "" : ", ").append(fact); };
  if (attempt.status) add(fmt::format("status {}", *attempt.status));
  if (!attempt.request_id.empty())
    add(fmt::format("request <bdi>{}</bdi>", html_text(attempt.request_id, max_name_size)));
  if (attempt.outcome_unknown()) add("sent and never answered");
  if (attempt.dispatched_again) add("sent again by a layer below");
  if (attempt.not_run) add("nothing was done");
  if (attempt.key_used) add("with an idempotency key");
  if (attempt.hint) add(fmt::format("asked to wait {}", span_text(*attempt.hint)));
  if (attempt.remaining) add(fmt::format("{} left", span_text(*attempt.remaining)));
  return text;
}

/// A row for each attempt. Where the page is narrow, a cell is preceded by its column's name instead of standing under it.
void add_attempts(std::string& html, const encore::TracedCall& call, const DrawnLane& drawing) {
  html += "<table>\n<tr>";
  for (const auto* const name : {"attempt", "began", "took", "end", "error", "known", "then waited"})
    html.append("<th>").append(name).append("</th>");
  html += "</tr>\n";
  const auto cell = [&](std::string_view name, std::string_view kind, std::string_view content) {
    fmt::format_to(std::back_inserter(html), R"(<td class="{}" data-name="{}">{}</td>)", kind, name, content);
  };
  const auto& reported = call.reported_attempts();
  for (std::size_t i = 0; i < reported.size(); ++i) {
    const auto& attempt = reported[i];
    auto error = html_text(failure_name(attempt), max_name_size);
    if (!attempt.message.empty()) error.append(": ").append(html_text(attempt.message));
    html += "<tr>";
    cell("attempt", "number", attempt.ordinal > 0 ? std::to_string(attempt.ordinal) : "");
    cell("began", "number",
         drawing.timed ? "+" + ::span_text(std::max(0.0, drawing.attempts[i].begin - drawing.call.begin))
                       : "");
    cell("took", "number", attempt.took ? span_text(*attempt.took) : "");
    cell("", "", attempt.error_result ? "returned an error" : to_string(attempt.end));
    cell("", "text", error.empty() ? error : "<bdi>" + error + "</bdi>");
    cell("", "", facts(attempt));
    cell("then waited", "number", attempt.will_retry ? span_text(attempt.wait) : "");
    html += "</tr>\n";
  }
  html += "</table>\n";
}

}  // namespace

std::string how_it_ended(const Lane& lane) {
  const auto& call = lane.call;
  const auto [sign, words] = end_of(call);
  const auto attempts = call.reported_attempt_count();
  auto html = fmt::format("<b>{} {}</b><br/>{}", sign, words, attempts);
  if (call.max_attempts) html += fmt::format(" of {}", *call.max_attempts);
  if (!call.error_type.empty() && call.error_type != to_string(call.reason))
    html += fmt::format(" &#183; <bdi>{}</bdi>", html_text(call.error_type, max_name_size));
  return html;
}

std::string lane_details(const Lane& lane, const DrawnLane& drawing) {
  const auto& call = lane.call;
  std::string html = "<p class=\"small\">";
  if (call.began_at) {
    html += "Began ";
    encore::append_timestamp(html, *call.began_at);
  } else {
    html += "The log does not say when it began";
  }
  if (call.elapsed) html.append(", took ").append(span_text(*call.elapsed));
  if (call.finished) html.append(", slept ").append(span_text(call.slept));
  if (drawing.deadline)
    html.append(", deadline after ")
        .append(::span_text(std::max(0.0, *drawing.deadline - drawing.call.begin)));
  html += '.';
  if (!call.resolved_name.empty() && call.resolved_name != call.tool)
    html +=
        fmt::format(" The tool was resolved to <bdi>{}</bdi>.", html_text(call.resolved_name, max_name_size));
  if (!call.outer_id.empty())
    html += fmt::format(" It ran inside attempt {} of <bdi>{}</bdi>.", call.outer_ordinal,
                        html_text(call.outer_id, max_name_size));
  if (!call.scope.empty())
    html += fmt::format(" Scope <code>{}</code>.", html_text(call.scope, max_name_size));
  if (!lane.findings.empty()) {
    html += " Found: ";
    for (std::size_t i = 0; i < lane.findings.size(); ++i)
      html.append(i == 0 ? "" : ", ").append(in_words(to_string(lane.findings[i])));
    html += '.';
  }
  html += "</p>\n";
  add_attempts(html, call, drawing);
  const auto all = static_cast<std::size_t>(std::max(0, call.reported_attempt_count()));
  if (const auto reported = call.reported_attempts().size(); all > reported)
    html +=
        fmt::format("<p class=\"soft\">{} more attempts are counted but not stored.</p>\n", all - reported);
  return html;
}

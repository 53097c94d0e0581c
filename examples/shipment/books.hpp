// What the host keeps: which order a call was for, what came of it, and what is still to be found out.
#pragma once
#include "shipping.hpp"
#include <encore/agent/tool_call.hpp>
#include <encore/agent/tool_result.hpp>
#include <encore/agent/tool_run.hpp>
#include <encore/agent/unknown_outcome.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

struct Books {
  std::map<std::string, std::string> orders;     ///< by call id
  std::map<std::string, std::string> shipments;  ///< by order: what the agent knows of
  std::vector<encore::UnknownOutcome> unknown;   ///< to be reconciled
};

/// The hook: whoever it tells of an unknown outcome has to find out.
inline auto to_be_reconciled(Books& books) {
  return encore::OnUnknownOutcome{
      [&books](const encore::UnknownOutcome& lost) { books.unknown.push_back(lost); }};
}

/// Makes a call, and enters what it came to.
template <class... Guard>
encore::ToolResult make(encore::ToolRun<Guard...>& run, Books& books, const encore::ToolCall& call) {
  books.orders[call.id] = call.arguments;
  auto answer = run.handle(call);
  if (!answer.is_error()) books.shipments[call.arguments] = answer.content;
  return answer;
}

struct Reconciled {
  int had_shipped = 0;
  int ordered_again = 0;
};

/// Settles every unknown outcome: by what the carrier has shipped, or else by another order, under the same key if one was
/// sent. What gets lost on the way is settled as well.
template <class... Guard>
Reconciled reconcile(encore::ToolRun<Guard...>& run, Books& books, const Shipping& shipping) {
  Reconciled done;
  while (!books.unknown.empty()) {
    for (const auto& lost : std::exchange(books.unknown, {})) {
      const auto order = books.orders.at(lost.call_id);
      const auto shipped = shipping.shipments_of(order);
      if (!shipped.empty()) {
        books.shipments[order] = shipped.front();
        ++done.had_shipped;
      } else {
        ++done.ordered_again;
        make(run, books,
             {.id = lost.call_id + "-again",
              .name = "ship",
              .arguments = order,
              .operation_key = lost.idempotency_key});
      }
    }
  }
  return done;
}

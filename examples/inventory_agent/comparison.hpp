// Three records of the same run side by side, and whether they agree.
#pragma once
#include "backend.hpp"
#include "script.hpp"
#include <encore/testing/recording.hpp>

#include <string>
#include <vector>

/// What the model gets back for a call.
struct ToolMessage {
  std::string call_id;
  bool is_error = false;
  std::string content;
};

/// What three parties know of one run, each by itself.
struct Records {
  std::vector<ToolCall> calls;        ///< the dashboard's: what the model issued …
  std::vector<ToolMessage> messages;  ///< … and what it got, in the same order
  encore::testing::Recording trace;   ///< encore's
  std::vector<Request> requests;      ///< the backend's own log
};

/// Prints them in three columns, a row for each attempt.
void print_side_by_side(const Records& records);

/// Prints each point in which trace and request log have to agree, and whether they do; answers whether all of them hold.
bool print_agreement(const Records& records);

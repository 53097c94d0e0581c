// The sums of each tool.
#pragma once
#include <encore/analysis/tool_totals.hpp>

#include <string>
#include <vector>

/// Appends a table, the tools with the most calls first. Of many tools the others are left out, and it says so.
void add_tools(std::string& html, std::vector<encore::ToolTotals> tools);

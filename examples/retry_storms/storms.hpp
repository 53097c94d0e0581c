// Four ways in which an agent storms a tool that cannot answer, each played without encore and with it. There is no network: the
// model is scripted, and the waits pass on a fake clock.
#pragma once
#include <encore/agent/money.hpp>
#include <encore/event.hpp>
#include <encore/stop_reason.hpp>

#include <functional>
#include <string_view>
#include <vector>

/// What one run of an agent comes to.
struct Bill {
  int model_calls = 0;
  int requests = 0;  ///< that reached what the tool depends on
  encore::Money cost{};
  friend bool operator==(const Bill&, const Bill&) = default;
};

inline constexpr encore::Money model_call_price = encore::usd("0.04");
inline constexpr encore::Money request_price = encore::usd("0.005");
inline constexpr int most_steps = 50;  // of the agent's loop, with encore and without

using Hear = std::function<void(const encore::Event&)>;

struct Storm {
  std::string_view name;
  Bill (*without)();
  Bill (*with)(const Hear&);
  std::vector<encore::StopReason> stopped_by;  ///< what ended calls with encore
};

/// As the article "AI agent retry storms" tells them.
std::vector<Storm> storms();

#include "page.hpp"

#include "chart.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <string_view>

namespace {

constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Backoff explorer</title>
<style>
body { margin: 0 auto; max-width: 74rem; padding: 0.5rem 1rem 2rem; background: #fff; color: #111;
  font: 1rem/1.45 system-ui, sans-serif; }
h1 { margin: 0.5rem 0; font-size: 1.6rem; }
h2 { margin: 2rem 0 0.3rem; font-size: 1.25rem; border-top: 1px solid #999; padding-top: 0.8rem; }
h3 { margin: 1.2rem 0 0.3rem; font-size: 1.05rem; }
p { max-width: 48rem; margin: 0.3rem 0 0.8rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0.8rem 1.6rem;
  align-items: start; }
.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
figure { margin: 0; max-width: 36rem; }
figcaption { font-size: 0.9rem; }
svg { display: block; width: 100%; height: auto; font: 14px system-ui, sans-serif; fill: #111; }
.grid { stroke: #d0d0d0; } .axis { stroke: #111; } .shade { fill: #e4e4e4; } .note { font-style: italic; }
.bar { fill: #9fc3e0; stroke: #0b62a4; } .median { stroke: #111; stroke-width: 3; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.8rem 0; font-size: 0.9rem; }
caption { text-align: left; font-weight: 600; }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid #ccc; text-align: right; }
th:first-child { text-align: left; font-weight: 400; }
@media (max-width: 36rem) { th, td { padding: 0.15rem 0.3rem; } }
</style>
</head>
<body>
)";

}  // namespace

std::string page(const Options& options) {
  return std::string{head} +
         fmt::format("<h1>Backoff explorer</h1>\n<p>{}</p>\n", escaped(policy_text(options.policy))) +
         delay_section(options) + contention_section(options) + outage_section(options) +
         "</body>\n</html>\n";
}

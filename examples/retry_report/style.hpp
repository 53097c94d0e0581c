// How the page looks: light or dark as the reader's system is, in black and white where it is printed.
#pragma once

inline constexpr auto page_style = R"(
:root { color-scheme: light dark; --ground: #fff; --ink: #1c2024; --soft: #5c6670; --line: #d8dde2; --panel: #f5f7f9;
  --good: #1b6e3c; --bad: #b3261e; --bad-ground: #fbe3e0; --odd: #8a5a00; --odd-ground: #fdf0d2; --limit: #1c2024; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --ink: #e6e9ec; --soft: #9aa5af; --line: #333a41;
  --panel: #1d2226; --good: #63c187; --bad: #ff8b80; --bad-ground: #45201d; --odd: #f0c063; --odd-ground: #3f3113;
  --limit: #e6e9ec; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 76rem; background: var(--ground); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
bdi { direction: ltr; unicode-bidi: isolate; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.12rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
p { margin: .3rem 0; }
.soft, caption { color: var(--soft); }
.small { font-size: .87rem; }
bdi.id, code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .93em; }
a { color: inherit; }
.sums { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
.sums li { flex: 1 1 4.8rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem; overflow-wrap: normal; }
.sums b { display: block; font-size: 1.45rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.findings { list-style: none; margin: 0; padding: 0; }
.findings li { border-left: 4px solid var(--line); padding: .15rem 0 .15rem .75rem; margin: .55rem 0; }
.findings .error { border-left-color: var(--bad); border-left-style: double; border-left-width: 6px; }
.findings .warning { border-left-color: var(--odd); }
.findings .info { border-left-color: var(--good); border-left-style: dotted; }
.findings .next { color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .5rem 0 .8rem; padding: 0; list-style: none; }
.legend li { display: flex; align-items: center; gap: .4rem; }
.lane > summary, .head { display: grid; grid-template-columns: 11.5rem minmax(0, 1fr) 12.5rem; gap: .1rem .9rem;
  align-items: center; }
.head { padding: 0 .3rem; }
.lane > summary { cursor: pointer; padding: .25rem .3rem; border-top: 1px solid var(--line); list-style: none; }
.lane > summary::-webkit-details-marker { display: none; }
.lane > summary:hover, .lane[open] > summary { background: var(--panel); }
.lane:target > summary { outline: 2px solid var(--odd); }
.who { line-height: 1.2; overflow: hidden; max-height: 2.5em; }
.who .tool { display: block; color: var(--soft); font-size: .85rem; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
.who .id { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-weight: 600; }
.end { font-size: .87rem; line-height: 1.25; }
.end b { white-space: nowrap; }
.end bdi { display: inline-block; max-width: 100%; white-space: nowrap; overflow: hidden; text-overflow: ellipsis;
  vertical-align: bottom; }
.more { padding: .3rem .3rem 1rem; overflow-x: auto; }
svg { display: block; overflow: visible; }
svg text { font: 10px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft); }
.track .attempt text { fill: var(--ink); }
.grid { stroke: var(--line); stroke-width: 1; }
.cut { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 1 3; }
.wait line { stroke: var(--soft); stroke-width: 1.5; }
rect.succeeded, .succeeded rect { fill: var(--good); stroke: var(--good); stroke-width: 1; }
rect.failed, .failed rect { fill: url(#failed); stroke: var(--bad); stroke-width: 1.2; }
rect.error-result, .error-result rect { fill: url(#error-result); stroke: var(--odd); stroke-width: 1.2; }
rect.unknown, .unknown rect { fill: var(--ground); stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 3 2; }
rect.recovered { fill: var(--good); fill-opacity: .45; stroke: var(--good); stroke-width: 1; }
.bad { fill: var(--bad); } .bad-ground { fill: var(--bad-ground); }
.odd { fill: var(--odd); } .odd-ground { fill: var(--odd-ground); }
.deadline line { stroke: var(--limit); stroke-width: 2; } .deadline circle { fill: var(--limit); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
.tools { width: 100%; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
.more td.number { text-align: left; }
td.text { min-width: 10.5rem; overflow-wrap: anywhere; }
td.share { min-width: 8rem; width: 24%; vertical-align: middle; }
@media (max-width: 46rem) {
  body { padding: 1rem .7rem 2rem; }
  .lane > summary, .head { grid-template-columns: minmax(0, 1fr); }
  .lane > summary { padding: .5rem .3rem; }
  .head > :first-child, .head > :last-child { display: none; }
  .who { display: flex; gap: .6rem; align-items: baseline; }
  .who .id { flex: 0 1 auto; } .who .tool { flex: 1 1 auto; }
  .sums { gap: .4rem; } .sums li { padding: .3rem .5rem; font-size: .8rem; }
  .track { overflow: hidden; }
  .more table, .more tbody, .more tr { display: block; }
  .more th { display: none; }
  .more tr { padding: .35rem 0; border-bottom: 1px solid var(--line); }
  .more td { display: inline; border: 0; padding: 0 .5rem 0 0; }
  .more td:not(:empty)::before { content: attr(data-name) " "; color: var(--soft); }
}
@media print {
  :root { color-scheme: light; --ground: #fff; --ink: #000; --soft: #444; --line: #bbb; --panel: #fff; --good: #222;
    --bad: #000; --bad-ground: #fff; --odd: #000; --odd-ground: #fff; --limit: #000; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .lane, .findings li, tr { break-inside: avoid; }
  svg, .lane > summary { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)";

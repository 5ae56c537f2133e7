// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/style.h"

namespace octavo::report::html {

const std::string_view kStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --sheet: #ffffff; --line: #dfe3ea; --soft: #eef1f6;
  --ink: #171c26; --quiet: #5a6475;
  --float: #2f6fde; --integer: #c2610c; --good: #1a7f4b; --warn: #9a5b00; --bad: #c02b2b;
  --warn-back: #fff6e5; --shadow: 0 1px 2px rgb(20 30 50 / 6%), 0 4px 16px rgb(20 30 50 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10141b; --sheet: #181e28; --line: #2c3543; --soft: #202835;
    --ink: #e8ecf3; --quiet: #9aa6b8;
    --float: #6ea8ff; --integer: #f2a65a; --good: #5fd39a; --warn: #f0bd63; --bad: #ff8a84;
    --warn-back: #2b2414; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 12px; background: var(--sheet); padding: 8px 12px; }
header, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 18px; padding-bottom: 2px; }
header .lead { margin: 0 0 4px; max-width: none; font-size: 13.5px; }
h1 { font-size: 25px; line-height: 1.25; margin: 0 0 6px; letter-spacing: -.01em;
  overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 4px; letter-spacing: -.005em; }
h3 { font-size: 14px; margin: 20px 0 6px; }
p { margin: 0 0 12px; }
.quiet { color: var(--quiet); }
.lead { color: var(--quiet); max-width: 76ch; }
code, .mono { font: 13px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",
  monospace; overflow-wrap: anywhere; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 14px 0 0;
  padding: 0; font-size: 14px; }
a { color: var(--float); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
section { background: var(--sheet); border: 1px solid var(--line); border-radius: 12px;
  padding: 20px 22px; margin: 18px 0; box-shadow: var(--shadow); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(176px, 1fr)); gap: 14px;
  margin: 20px 0 18px; padding: 0; background: none; border: 0; box-shadow: none; }
.card { background: var(--sheet); border: 1px solid var(--line); border-radius: 12px;
  padding: 14px 16px 13px; box-shadow: var(--shadow); }
.card h2 { font-size: 13px; font-weight: 600; color: var(--quiet); margin: 0 0 2px; }
.card .figure { font-size: 25px; line-height: 1.25; font-weight: 650; letter-spacing: -.02em;
  white-space: nowrap; }
.card .note { font-size: 13px; color: var(--quiet); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.notice { background: var(--warn-back); border-color: var(--warn); border-left-width: 5px; }
.notice ul { margin: 8px 0 0; padding-left: 20px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { font-size: 12.5px; font-weight: 600; color: var(--quiet); white-space: nowrap; }
tbody th { font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.number + :not(.number) { padding-left: 12px; }
th.number:last-child, td.number:last-child { padding-right: 0; }
.meter { display: inline-block; width: 84px; height: 8px; border-radius: 4px;
  background: var(--soft); overflow: hidden; vertical-align: 1px; }
.meter i { display: block; height: 100%; border-radius: 4px; background: var(--integer); }
.badge { display: inline-block; font-size: 12px; line-height: 1.5; padding: 0 8px;
  border-radius: 9px; border: 1px solid currentcolor; white-space: nowrap; }
details > summary { cursor: pointer; padding: 4px 0; border-radius: 6px; }
details > summary:focus-visible { outline: 2px solid var(--float); }
details.row { border-bottom: 1px solid var(--line); font-size: 14px;
  content-visibility: auto; contain-intrinsic-size: auto 56px; }
details.row:last-of-type { border-bottom: 0; }
details.row > summary { display: grid; align-items: baseline; gap: 4px 16px; padding: 7px 0;
  grid-template-columns: 14px minmax(0, 1fr) 44px 156px 100px 84px; list-style: none; }
details.row > summary > span { overflow-wrap: anywhere; }
details.row > summary::-webkit-details-marker { display: none; }
details.row > summary::before { content: "▸"; color: var(--quiet); font-size: 12px; }
details.row[open] > summary::before { content: "▾"; }
details.row > .body { padding: 4px 0 18px 30px; }
details.rule > summary { grid-template-columns: 14px minmax(0, 1fr) 150px 104px; }
.headrow { display: grid; gap: 4px 16px; font-size: 12.5px; font-weight: 600;
  color: var(--quiet); border-bottom: 1px solid var(--line); padding-bottom: 6px;
  grid-template-columns: 14px minmax(0, 1fr) 44px 156px 100px 84px; }
.headrow button { font: inherit; color: inherit; background: none; border: 0; padding: 0;
  text-align: inherit; border-radius: 4px; }
.headrow button:enabled { cursor: pointer; text-decoration: underline dotted; }
.headrow button[data-way=up]::after { content: " ▲"; }
.headrow button[data-way=down]::after { content: " ▼"; }
button:focus-visible, input:focus-visible, pre:focus-visible {
  outline: 2px solid var(--float); outline-offset: 2px; }
[hidden] { display: none !important; }
.tools { font-size: 14px; color: var(--quiet); }
.tools input { font: inherit; color: var(--ink); background: var(--soft);
  border: 1px solid var(--line); border-radius: 6px; padding: 4px 8px; min-width: 22em;
  max-width: 100%; margin: 0 8px; }
.members { font-size: 13px; color: var(--quiet); margin: 12px 0 0; }
.members span { margin-left: 10px; overflow-wrap: anywhere; }
.advice { margin: 0; padding: 0; list-style: none; }
.advice p { margin: 8px 0 3px; overflow-wrap: anywhere; }
.command { display: flex; gap: 8px; align-items: start; }
.command pre { flex: 1; min-width: 0; margin: 0; padding: 5px 10px; background: var(--soft);
  border-radius: 6px; overflow-x: auto; font-size: 13px; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.copy { font: inherit; font-size: 13px; color: var(--ink); background: var(--sheet);
  border: 1px solid var(--line); border-radius: 6px; padding: 4px 12px; cursor: pointer; }
.headrow.rule { grid-template-columns: 14px minmax(0, 1fr) 150px 104px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 8px 36px; }
.plots { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 3fr); gap: 8px 28px; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(180px, 1fr));
  gap: 8px 16px; margin: 10px 0 0; }
dl.figures dt { font-size: 12.5px; color: var(--quiet); }
dl.figures dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.plain li { padding: 2px 0; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--quiet); font-size: 12px; font-family: inherit; }
svg .strong { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--line); stroke-width: 1; }
.axis { stroke: var(--quiet); stroke-width: 1; }
.zero { stroke: var(--quiet); opacity: .45; }
.limit { stroke: var(--quiet); stroke-dasharray: 3 3; }
.float-shape { fill: var(--float); fill-opacity: .2; stroke: var(--float); stroke-width: 2; }
.accumulated { fill: none; stroke: var(--float); stroke-width: 2; }
.integer-line, .local { fill: none; stroke: var(--integer); stroke-width: 2; }
.accumulated, .local { stroke-linejoin: round; stroke-linecap: round; }
.local { stroke-dasharray: 1 5; }
.accumulated-area { fill: var(--float); opacity: .08; stroke: none; }
.integer-line { stroke-width: 1.5; }
.dot-accumulated { fill: var(--float); } .dot-local { fill: var(--sheet);
  stroke: var(--integer); stroke-width: 2; }
.worst { fill: none; stroke: var(--bad); stroke-width: 2; }
.bar { fill: var(--integer); opacity: .85; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 13px; color: var(--quiet);
  margin: 4px 0 8px; padding: 0; list-style: none; }
.legend li::before { content: ""; display: inline-block; width: 18px; height: 0;
  vertical-align: 4px; margin-right: 7px; border-top: 3px solid var(--float); }
.legend li.integer::before { border-color: var(--integer); }
.legend li.dotted::before { border-top-style: dotted; }
@media (min-width: 900px) {
  main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 18px;
    align-items: start; }
  main > * { grid-column: 1 / -1; }
  #operators, #passes { grid-column: auto; }
  section { margin: 9px 0; }
}
footer { color: var(--quiet); font-size: 13px; padding-bottom: 40px; }
@media (max-width: 700px) {
  .plots { grid-template-columns: 1fr; }
  details.row:not(.rule) > summary, .headrow:not(.rule) {
    grid-template-columns: 14px minmax(0, 1fr) 116px 72px; }
  details.row:not(.rule) > summary > :is(:nth-child(2), :nth-child(5)),
  .headrow:not(.rule) > :is(:nth-child(3), :nth-child(6)) { display: none; }
  .meter { width: 44px; }
  .wide svg { min-width: 640px; }
  header, main, footer { padding-left: 14px; padding-right: 14px; }
}
@media print {
  body { background: none; } nav { display: none; }
  section, .card { box-shadow: none; break-inside: avoid; }
}
)css";

}  // namespace octavo::report::html

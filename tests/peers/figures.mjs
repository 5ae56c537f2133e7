// SPDX-License-Identifier: Apache-2.0
// Figures of a report, and Markdown tables of such.

// The least SQNR over the outputs; null where none has any noise.
export function leastSqnr(report) {
  const known = report.numerics.outputs.map((v) => v.sqnr_db).filter((db) => db !== null);
  return known.length ? Math.min(...known) : null;
}

// `columns`: heading (trailing spaces tell equal ones apart) -> cell of a row.
export function table(columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const headings = Object.keys(columns).map((heading) => heading.trim());
  const lines = [line(headings), line(headings.map((_, i) => i === 0 ? '---' : '---:'))];
  for (const row of rows) lines.push(line(Object.values(columns).map((cell) => cell(row))));
  return lines.join('\n');
}

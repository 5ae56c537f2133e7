// SPDX-License-Identifier: Apache-2.0
// Where Rescales arise in real models, what the passes leave of them, and why each that is left
// stays.
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';

import {leastSqnr, table} from './figures.mjs';

// Shared parameters let few Rescales arise; with --own-parameters they arise as in the models of
// frameworks that give every value its own.
const LIMITS = ['fewer-roundings', 'fewer-clamps', 'new-parameters'];

export function measureRescales(octavo, model, folder, options) {
  mkdirSync(folder, {recursive: true});
  return LIMITS.map((limit) => {
    const {report} = octavo.optimize(
        model.model, model.calibration, join(folder, 'own.onnx'), join(folder, `own-${limit}.json`),
        '--own-parameters', '--numerics-limit', limit, ...options);
    return {name: model.name, limit, rescales: report.rescales, sqnr_db: leastSqnr(report)};
  });
}

// Reasons without the names in them, each with how many Rescales stay for it, most first.
export function reasonsByCount(kept) {
  const counts = new Map();
  for (const {reason} of kept) {
    const general = reason.replace(/(?: of)? ?'[^']*'/g, '').replace(/ [\d.e+]+ times/g, ' N times').trim();
    counts.set(general, (counts.get(general) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// Every Rescale that is left, in rows of measure.mjs.
export function listKept(rows) {
  const lines = rows.flatMap(
      ({name, rescales}) => rescales.kept.map(({node, reason}) => `- ${name}, \`${node}\`: ${reason}`));
  return lines.length ? lines.join('\n') : 'none';
}

const COLUMNS = {
  'model': (r) => r.name,
  '--numerics-limit': (r) => r.limit,
  'Rescales before': (r) => r.rescales.before,
  'elements': (r) => r.rescales.elements_before,
  'greedy': (r) => r.rescales.greedy_after,
  'elements ': (r) => r.rescales.greedy_elements_after,
  'placed': (r) => r.rescales.after,
  'elements  ': (r) => r.rescales.elements_after,
  'SQNR, dB': (r) => r.sqnr_db === null ? 'no noise' : r.sqnr_db.toFixed(1),
};

export function rescalesTable(rows) {
  return table(COLUMNS, rows.filter((row) => row.rescales.before > 0));
}

// The reasons of a table's rows, all models of one limit together.
export function listReasons(rows) {
  return LIMITS
      .map((limit) => {
        const kept = rows.filter((r) => r.limit === limit).flatMap((r) => r.rescales.kept);
        const lines = reasonsByCount(kept).map(([reason, count]) => `- ${count}: ${reason}`);
        if (!kept.length) return `With the limit ${limit}, none stays.`;
        return [`With the limit ${limit}, ${kept.length} stay:`, '', ...lines].join('\n');
      })
      .join('\n\n');
}

#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Quantizes real models with `octavo optimize`, runs the results in Octavo and in ONNX Runtime, prints
// Markdown tables and what Rescales are left and why, and fails where a goal is missed.
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {percent} from './compare.mjs';
import {table} from './figures.mjs';
import {measure} from './measure.mjs';
import {listModels, ROOT, SHARED} from './models.mjs';
import {Octavo} from './octavo.mjs';
import {listKept, listReasons, measureRescales, rescalesTable} from './rescales.mjs';

const USAGE = 'usage: models_table.mjs [--octavo BINARY] [--models a,b] [--shared DIR]\n' +
    '           [--server HOST:PORT] [--work DIR] [--json FILE] [-- OPTIONS OF octavo optimize]';

const kilobytes = (bytes) => `${Math.round(bytes / 1000)}`;
const points = (value) => value === undefined ? '' : value.toFixed(2);

// Heading -> cell.
const COLUMNS = {
  'model': (r) => r.name,
  'kB before': (r) => kilobytes(r.bytes_before),
  'after': (r) => kilobytes(r.bytes_after),
  'nodes before': (r) => r.nodes_before,
  'after ': (r) => r.nodes_after,
  'Rescales before': (r) => r.rescales.before,
  'greedy': (r) => r.rescales.greedy_after,
  'placed': (r) => r.rescales.after,
  'float nodes': (r) => r.float_nodes,
  'SQNR, dB': (r) => r.sqnr_db === null ? 'no noise' : r.sqnr_db.toFixed(1),
  'equal to ONNX Runtime': (r) => percent(r.equal) + (r.nominal_step ? ' \\*' : ''),
  'within 1 step': (r) => percent(r.within_one),
  'most steps': (r) => r.max_steps,
  'top-1 float': (r) => points(r.top1_float),
  'int8': (r) => points(r.top1_integer),
  'changed class': (r) => r.changed ?? '',
  'seconds': (r) => r.seconds.toFixed(2),
};

function markdown(rows) {
  const lines = [table(COLUMNS, rows)];
  if (rows.some((row) => row.nominal_step)) {
    lines.push('', '\\* an output has no scale of its own; a step is 1/255 of its range.');
  }
  return lines.join('\n');
}

function parse() {
  const {values, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
      models: {type: 'string'},
      shared: {type: 'string', default: SHARED},
      server: {type: 'string'},
      work: {type: 'string'},
      json: {type: 'string'},
      help: {type: 'boolean'},
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  return {...values, more: positionals};
}

async function measureAll(options, work) {
  const octavo = new Octavo(options.octavo, options.server);
  const rows = [];
  const own = [];
  const failures = [];
  for (const model of listModels(options.shared, options.models?.split(','))) {
    try {
      const row = await measure(octavo, model, join(work, model.name), options.more);
      rows.push(row);
      own.push(...measureRescales(octavo, model, join(work, model.name), options.more));
      failures.push(...row.missed.map((text) => `${model.name}: ${text}`));
    } catch (error) {
      failures.push(`${model.name}: ${error.message}`);
    }
  }
  return {rows, own, failures};
}

async function main() {
  const options = parse();
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-models-'));
  try {
    if (!existsSync(options.shared)) {
      console.log(`no models in ${options.shared}: the repository's own only\n`);
    }
    const {rows, own, failures} = await measureAll(options, work);
    console.log(`${markdown(rows)}\n\nRescales that stay:\n\n${listKept(rows)}`);
    console.log(`\nWith --own-parameters:\n\n${rescalesTable(own)}\n\n${listReasons(own)}`);
    if (options.json) writeFileSync(options.json, JSON.stringify({rows, own}, null, 1) + '\n');
    for (const failure of failures) console.error(`FAILED ${failure}`);
    process.exitCode = failures.length ? 1 : 0;
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
}

main().catch((error) => {
  console.error(`models_table: error: ${error.message}`);
  process.exit(1);
});

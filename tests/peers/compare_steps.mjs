#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares two folders of values (of `octavo run` or run_model.mjs): how many elements are equal,
// one quantization step or more apart.  A float value's step is its scale: from --scale, from
// --report, or from an index.json.
import {readFileSync} from 'node:fs';
import {parseArgs} from 'node:util';

import {percent, share} from './compare.mjs';
import {compareFolders, scalesOfReport} from './compare_folders.mjs';

const USAGE = 'usage: compare_steps.mjs DIR EXPECTED_DIR [--scale S] [--report R.json] [--json]';

function describe(row) {
  const parts = [
    `${percent(share(row.equal, row.count))} equal`,
    `${percent(share(row.equal + row.one, row.count))} within 1 step`,
    `at most ${row.max_steps} steps, ${row.max_abs.toPrecision(3)}`,
  ];
  if (row.same_class !== null) parts.push(`same class ${row.same_class} of ${row.rows}`);
  if (row.nominal_step) parts.push('no scale known: a step is 1/255 of the range');
  return `${row.name}: ${row.count} elements, ${parts.join(', ')}`;
}

function main() {
  const {values: options, positionals} = parseArgs({
    allowPositionals: true,
    options: {scale: {type: 'string'}, report: {type: 'string'}, json: {type: 'boolean'}},
  });
  if (positionals.length !== 2) {
    console.error(USAGE);
    process.exit(2);
  }
  let scales = new Map();
  if (options.report) scales = scalesOfReport(JSON.parse(readFileSync(options.report, 'utf8')));
  if (options.scale) scales = {get: () => Number(options.scale)};
  const rows = compareFolders(...positionals, scales);
  if (options.json) console.log(JSON.stringify(rows));
  else for (const row of rows) console.log(describe(row));
}

try {
  main();
} catch (error) {
  console.error(`compare_steps: error: ${error.message}`);
  process.exit(1);
}

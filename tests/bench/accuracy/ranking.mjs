#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Whether the ranking of groups by their error in the outputs finds those that matter: gives 16-bit
// integers to the first 1, 2, 4 and 8 groups by error share, and to as many by local SQNR, and prints
// the output SQNR of both on samples that did not calibrate.
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {table} from '../../peers/figures.mjs';
import {listModels, ROOT, SHARED} from '../../peers/models.mjs';
import {Octavo} from '../../peers/octavo.mjs';
import {measure, prepare} from './measure.mjs';

const COUNTS = [1, 2, 4, 8];
// Asked of the mean over models and counts, in dB.
const LEAST_GAIN = 0.5;

function parse() {
  return parseArgs({
    options: {
      octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
      models: {type: 'string'},
      shared: {type: 'string', default: SHARED},
      json: {type: 'string'},
      check: {type: 'boolean'},  // fail if the mean gain is less than LEAST_GAIN
    },
  }).values;
}

// The groups of 8-bit values: a name of each, its error share and its least local SQNR.
function groupsOf(report) {
  const groups = new Map();
  for (const value of report.numerics.values) {
    if (value.group == null || !/^[iu]8$/.test(value.dtype)) continue;
    const group = groups.get(value.group) ?? {name: value.name, share: 0, local: Infinity};
    group.share = Math.max(group.share, value.error_share ?? 0);
    group.local = Math.min(group.local, value.local_sqnr_db ?? Infinity);
    groups.set(value.group, group);
  }
  return [...groups.values()];
}

// Without equalization: a trial of its own for every choice of groups would decide more than they do.
const FIXED = ['--equalize', 'off'];

// Output SQNR with the first `count` groups in 16 bits, for each of COUNTS.
async function figuresOf(octavo, prepared, groups) {
  const figures = {};
  for (const count of COUNTS) {
    const names = groups.slice(0, count).map(({name}) => name);
    const options = [...FIXED, '--int16', names.join()];
    figures[count] = (await measure(octavo, prepared, options)).sqnr_db;
  }
  return figures;
}

async function main() {
  const values = parse();
  const octavo = new Octavo(values.octavo);
  const work = mkdtempSync(join(tmpdir(), 'octavo-ranking-'));
  const rows = [];
  try {
    for (const model of listModels(values.shared, values.models?.split(','))) {
      const prepared = await prepare(model, join(work, model.name));
      await measure(octavo, prepared, [...FIXED, '--advise']);
      const groups =
          groupsOf(JSON.parse(readFileSync(join(prepared.folder, 'report.json'), 'utf8')));
      const share = [...groups].sort((a, b) => b.share - a.share);
      const local = [...groups].sort((a, b) => a.local - b.local);
      rows.push({name: model.name, groups: groups.length,
                 share: await figuresOf(octavo, prepared, share),
                 local: await figuresOf(octavo, prepared, local)});
    }
  } finally {
    rmSync(work, {recursive: true});
  }
  const columns = {'model': (r) => r.name, 'groups': (r) => r.groups};
  for (const count of COUNTS) {
    columns[`${count} by share / local`] =
        (r) => `${r.share[count].toFixed(1)} / ${r.local[count].toFixed(1)}`;
  }
  console.log(table(columns, rows));
  const gains = rows.flatMap((r) => COUNTS.map((count) => r.share[count] - r.local[count]));
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  console.log(`mean gain of the ranking by error share: ${mean.toFixed(2)} dB`);
  if (values.json) writeFileSync(values.json, JSON.stringify(rows, null, 1) + '\n');
  if (values.check && !(mean >= LEAST_GAIN)) process.exitCode = 1;
}

main().catch((error) => {
  console.error(`ranking: error: ${error.message}`);
  process.exit(1);
});

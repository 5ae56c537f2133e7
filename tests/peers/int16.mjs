#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Models whose values are 16-bit integers in part.  Every operator alone, on ONNX Runtime's integers,
// must be one step from ONNX Runtime at most: it computes such operators in float, between
// DequantizeLinear and QuantizeLinear.  (Whole networks differ by more: a step of 16 bits decides now
// and then about one of 8.)  Prints Markdown; exit 1 where an operator is further apart.
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {table} from './figures.mjs';
import {listModels, ROOT, SHARED} from './models.mjs';
import {compareNodes} from './nodes.mjs';
import {Octavo} from './octavo.mjs';

const CASES = [
  {name: 'digits', int16: ['Relu']},
  {name: 'digits', int16: ['image', 'relu_1']},
  {name: 'fastestdet', int16: ['MaxPool', 'Concat']},
  {name: 'ultraface_rfb320', int16: ['Conv']},
];

async function judge(octavo, folder, {name, int16}) {
  const [model] = listModels(SHARED, [name]);
  const at = (file) => join(folder, file);
  const {report} = octavo.optimize(model.model, model.calibration, at('int8.onnx'), at('report.json'),
                                   '--no-float-outputs', '--int16', int16.join(','));
  const wide = report.ledger.filter(({rule}) => rule === 'quantize/int16').length;
  const {rows} = await compareNodes(octavo, at('int8.onnx'), model.samples, {count: 1, work: folder});
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  return {name: `${name} ${int16}`, wide, nodes: rows.length, count: sum('count'),
          equal: sum('equal'), one: sum('one'), most: Math.max(...rows.map((r) => r.max_steps))};
}

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
    help: {type: 'boolean'}}});
  if (options.help) return console.log('usage: int16.mjs [--octavo BINARY]');
  const octavo = new Octavo(options.octavo);
  const rows = [];
  for (const each of CASES) {
    if (each.name !== 'digits' && !existsSync(SHARED)) {
      console.log(`skipped: ${each.name}, as there is no ${SHARED}\n`);
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), 'octavo-int16-'));
    try {
      rows.push(await judge(octavo, folder, each));
    } finally {
      rmSync(folder, {recursive: true});
    }
  }
  console.log(table({'model, --int16': (r) => r.name, 'wide nodes': (r) => r.wide,
                     'nodes compared': (r) => r.nodes, 'elements': (r) => r.count,
                     'equal': (r) => r.equal, '1 step': (r) => r.one, 'most steps': (r) => r.most},
                    rows));
  for (const {name} of rows.filter(({wide, most}) => most > 1 || wide === 0)) {
    console.error(`FAILED ${name}`);
    process.exitCode = 1;
  }
}

main().catch((error) => {
  console.error(`int16: error: ${error.message}`);
  process.exit(1);
});

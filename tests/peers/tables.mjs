#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Tables whose rows have their own scales (`--weights-only Gather`) in ONNX Runtime, with no session
// option set: it must accept each export and compute the bits of `octavo run`, and the export must
// gather integers.
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {table} from './figures.mjs';
import {ROOT} from './models.mjs';
import {formatNpy} from './npy.mjs';
import {Octavo} from './octavo.mjs';
import {openWithDefaults, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const SAMPLES = 8;

// `indices` of a sample; the first extent of its input is 1.  `zeros`: weights have zero points.
const CASES = [
  {name: 'rows', shape: [50, 32], axis: 0, indices: [1, 5], options: []},
  {name: 'rows from the end', shape: [50, 32], axis: -2, indices: [1, 5], options: ['--opset', '17']},
  {name: 'columns', shape: [16, 40], axis: 1, indices: [1, 3, 2], options: ['--opset', '21']},
  {name: 'the axis between', shape: [3, 20, 4], axis: 1, indices: [1, 6], options: []},
  {name: 'zero points', shape: [50, 32], axis: 0, indices: [1, 5], options: [], zeros: true},
  {name: '16 bits', shape: [50, 32], axis: 0, indices: [1, 5], options: ['--weights', 'i16']},
];

function graphOf({shape, axis, indices}) {
  const at = axis < 0 ? axis + shape.length : axis;
  const result = [...shape.slice(0, at), ...indices, ...shape.slice(at + 1)];
  return `graph(%i: tensor<${indices.join('x')}xi64>) -> (%y) {
  const %words = random(7) : tensor<${shape.join('x')}xf32>
  %y = Gather(%words, %i) {axis=${axis}} : tensor<${result.join('x')}xf32>
}
`;
}

// Every row is chosen, by negative indices too.
function samplesOf({shape, axis, indices}) {
  const rows = shape.at(axis);
  const count = SAMPLES * indices.reduce((product, extent) => product * extent, 1);
  const data = BigInt64Array.from({length: count}, (_, i) => BigInt((i * 7) % (2 * rows) - rows));
  return {dtype: 'int64', shape: [SAMPLES, ...indices.slice(1)], data};
}

async function judge(octavo, work, test) {
  const folder = join(work, test.name.replaceAll(' ', '_'));
  mkdirSync(folder);
  const at = (file) => join(folder, file);
  writeFileSync(at('net.graph'), graphOf(test));
  const samples = samplesOf(test);
  writeFileSync(at('i.npy'), formatNpy(samples));
  writeFileSync(at('zeros.json'), JSON.stringify(
      {name: 'zeros', base: 'cpu-int8', weights: {dtype: 'i8', symmetric: false}}));
  const target = test.zeros ? ['--target', at('zeros.json')] : [];
  const {report} = octavo.optimize(at('net.graph'), at('i.npy'), at('net.onnx'), at('report.json'),
                                   '--weights-only', 'Gather', ...test.options, ...target);
  octavo.run(at('net.onnx'), at('i.npy'), at('own'));
  const [own] = [...readValues(at('own')).values()];
  const failures = [];
  if (!report.ledger.some(({rule}) => rule === 'merge-constants/gather-integers')) {
    failures.push('the export does not gather integers');
  }
  if (Boolean(test.zeros) !== ('Sub' in report.model.ops_after)) {
    failures.push('the export subtracts no zero points, or those that are all 0');
  }
  try {
    const session = await openWithDefaults(at('net.onnx'));
    const [peer] = [...(await runSamples(session, new Map([['i', samples]]))).values()];
    const bytes = ({data}) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (!bytes(own).equals(bytes(peer))) failures.push('ONNX Runtime computes other bits');
  } catch (error) {
    failures.push(`ONNX Runtime refuses the export: ${error.message}`);
  }
  return {name: test.name, failures};
}

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')}}});
  const octavo = new Octavo(options.octavo);
  const work = mkdtempSync(join(tmpdir(), 'octavo-tables-'));
  const results = [];
  for (const test of CASES) results.push(await judge(octavo, work, test));
  rmSync(work, {recursive: true});
  console.log(table({'table': (r) => r.name, 'result': (r) => r.failures.join('; ') || 'equal bits'},
                    results));
  process.exitCode = results.some(({failures}) => failures.length > 0) ? 1 : 0;
}

main().catch((error) => {
  console.error(`tables: error: ${error.message}`);
  process.exit(1);
});

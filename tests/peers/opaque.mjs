#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Models with nodes that Octavo does not support (../e2e/opaque_models.py: If, Loop,
// NonMaxSuppression) in ONNX Runtime: it must accept each export, and the outputs must agree with
// the float model's within quantization; a model that takes any size, at two others too.  Boxes are compared as sets: equal scores have no order.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {table} from './figures.mjs';
import {ROOT} from './models.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openWithDefaults, runFeed} from './onnx_runtime.mjs';

const NAMES = ['branch', 'open_branch', 'loop', 'detection'];
const OTHER_SIZES = {open_branch: [[3, 3, 8, 8], [2, 3, 20, 11]]};
const LEAST_DB = 20;

// Rows in the order of their first columns, rounded.
function sortedRows({shape, data}) {
  if (shape.length !== 2) return [...data];
  const rows = Array.from({length: shape[0]}, (_, i) =>
    [...data.subarray(i * shape[1], (i + 1) * shape[1])]);
  const key = (row) => row.map((value) => Math.round(value / 10));
  rows.sort((a, b) => key(a).reduce((order, value, i) => order || value - key(b)[i], 0));
  return rows.flat();
}

function addErrors(sums, name, wanted, actual) {
  const a = sortedRows(wanted), b = sortedRows(actual);
  if (a.length !== b.length) throw new Error(`${name}: ${b.length} elements instead of ${a.length}`);
  const sum = sums.get(name) ?? {signal: 0, noise: 0, elements: 0};
  for (let i = 0; i < a.length; ++i) {
    sum.signal += a[i] ** 2;
    sum.noise += (a[i] - b[i]) ** 2;
  }
  sum.elements += a.length;
  sums.set(name, sum);
}

// Images of the shape that repeat the elements of others.
function resized({data}, shape) {
  const count = shape.reduce((product, extent) => product * extent);
  return {dtype: 'float32', shape, data: Float32Array.from({length: count},
                                                           (_, i) => data[i % data.length])};
}

async function judge(octavo, work, name) {
  const at = (file) => join(work, file);
  const samples = at(`${name}.npz`);
  const {report} = octavo.optimize(at(`${name}.onnx`), samples, at(`${name}.int8.onnx`),
                                   at(`${name}.json`));
  const before = await openWithDefaults(at(`${name}.onnx`));
  const after = await openWithDefaults(at(`${name}.int8.onnx`));
  const [[input, images]] = [...readNpz(samples)];
  const each = images.data.length / images.shape[0];
  const sums = new Map();
  const feeds = Array.from({length: images.shape[0]}, (_, i) => (
    {dtype: images.dtype, shape: [1, ...images.shape.slice(1)],
     data: images.data.slice(i * each, (i + 1) * each)}));
  for (const shape of OTHER_SIZES[name] ?? []) feeds.push(resized(images, shape));
  for (const array of feeds) {
    const feed = {[input]: array};
    const wanted = await runFeed(before, feed), actual = await runFeed(after, feed);
    for (const [output, values] of wanted) addErrors(sums, output, values, actual.get(output));
  }
  const figures = [...sums].map(([output, {signal, noise, elements}]) => (
    {output, elements, sqnr: noise === 0 ? Infinity : 10 * Math.log10(signal / noise)}));
  const integers = 'QuantizeLinear' in report.model.ops_after ||
                   report.ledger.some(({rule}) => rule === 'quantize/quantize');
  return {name, figures, integers};
}

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')}}});
  const octavo = new Octavo(options.octavo);
  const work = mkdtempSync(join(tmpdir(), 'octavo-opaque-'));
  const made = spawnSync('/usr/bin/python3',
                         ['-B', join(ROOT, 'tests/e2e/opaque_models.py'), work], {encoding: 'utf8'});
  if (made.status !== 0) throw new Error(made.stderr);
  const results = [];
  for (const name of NAMES) results.push(await judge(octavo, work, name));
  rmSync(work, {recursive: true});
  const rows = results.flatMap(({name, figures}) => figures.map((row) => ({name, ...row})));
  console.log(table({model: (r) => r.name, output: (r) => r.output, elements: (r) => `${r.elements}`,
                     'SQNR, dB': (r) => r.sqnr.toFixed(1)}, rows));
  const failed = rows.some(({sqnr, elements}) => !(sqnr >= LEAST_DB) || elements === 0) ||
                 results.some(({integers}) => !integers);
  process.exitCode = failed ? 1 : 0;
}

main().catch((error) => {
  console.error(`opaque: error: ${error.message}`);
  process.exit(1);
});

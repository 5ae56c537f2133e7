// SPDX-License-Identifier: Apache-2.0
// Runs every operator of an exported QDQ model alone, on the integers that ONNX Runtime computes
// before it, in both runtimes.  Conv, Gemm, MatMul, Concat, MaxPool and what only moves elements
// must give equal integers, any other single operator may be one step off, and so may one that is
// written out in several (submodels.py).  What stayed in float
// between integers is a cut of several operators: its differences are counted only.
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {compareArrays, percent, share} from './compare.mjs';
import {table} from './figures.mjs';
import {formatNpy} from './npy.mjs';
import {readNpz} from './npz.mjs';
import {openModel, runFeed} from './onnx_runtime.mjs';
import {cutSamples} from './samples.mjs';
import {readValues} from './values.mjs';

const CUTTER = fileURLToPath(new URL('submodels.py', import.meta.url));

// Without `int8Kernels` ONNX Runtime computes a lone operator on int8 activations in float.
const AS_FUSED = {doubleQdqRemover: false, int8Kernels: true};

function cutter(...args) {
  return execFileSync('/usr/bin/python3', ['-B', CUTTER, ...args], {maxBuffer: 1 << 28});
}

// For each of the first samples a Map of tensor name -> array, as ONNX Runtime computes them.
async function innerValues(model, samples, names, count) {
  const plain = await openModel(model, AS_FUSED);
  const given = new Set([...plain.inputNames, ...plain.outputNames]);
  const session = await openModel(model, {...AS_FUSED,
                                          values: names.filter((name) => !given.has(name))});
  const {feeds} = cutSamples(session.inputMetadata, readNpz(samples), 1);
  const runs = [];
  for (const feed of feeds.slice(0, count)) {
    runs.push(new Map([...Object.entries(feed), ...await runFeed(session, feed)]));
  }
  if (runs.length === 0) throw new Error(`${samples} has no samples`);
  return runs;
}

// The samples of one cut as numbered folders, which need no common batch dimension.
function writeSamples(folder, cut, runs) {
  runs.forEach((run, sample) => {
    mkdirSync(join(folder, `${sample}`), {recursive: true});
    cut.inputs.forEach((name, i) => {
      writeFileSync(join(folder, `${sample}`, `input_${i}.npy`), formatNpy(run.get(name)));
    });
  });
}

function flat(arrays) {
  const data = new arrays[0].data.constructor(arrays.reduce((sum, a) => sum + a.data.length, 0));
  arrays.reduce((at, array) => {
    data.set(array.data, at);
    return at + array.data.length;
  }, 0);
  return {dtype: arrays[0].dtype, shape: [data.length], data};
}

async function compareCut(octavo, folder, number, cut, runs) {
  const at = (suffix) => join(folder, `${number}${suffix}`);
  writeSamples(at('.samples'), cut, runs);
  octavo.run(at('.onnx'), at('.samples'), at('.octavo'));
  const own = readValues(at('.octavo')).get('result');
  if (!own) throw new Error('octavo run gave no value named result');

  const session = await openModel(at('.onnx'), AS_FUSED);
  const expected = [];
  for (const run of runs) {
    const feed = cut.inputs.map((name, i) => [`input_${i}`, run.get(name)]);
    expected.push((await runFeed(session, Object.fromEntries(feed))).get('result'));
  }
  if (own.dtype !== expected[0].dtype) {
    throw new Error(`octavo gives ${own.dtype}, ONNX Runtime ${expected[0].dtype}`);
  }
  return compareArrays(flat([own]), flat(expected));
}

// The most steps that the two runtimes may be apart, or undefined.
function allowedSteps(row) {
  if (row.demanded) return 0;
  return row.operators <= 1 ? 1 : undefined;
}

function excessOf(row) {
  const allowed = allowedSteps(row);
  if (allowed === undefined || row.max_steps <= allowed) return null;
  const beyond = allowed === 0 ? row.count - row.equal : row.more;
  return `${beyond} of ${row.count} elements differ by more than ${allowed} steps, by up to ` +
         `${row.max_steps}`;
}

const COLUMNS = {
  'operator': (r) => r.kind,
  'nodes': (r) => r.nodes,
  'elements': (r) => r.count,
  'equal': (r) => percent(share(r.equal, r.count)),
  'within 1 step': (r) => percent(share(r.equal + r.one, r.count)),
  'most steps': (r) => r.max_steps,
  'may differ by': (r) => allowedSteps(r) ?? 'any, float',
};

// Rows of compareNodes, of one or several models, summed by operator, as Markdown.
export function nodesTable(rows) {
  const kinds = new Map();
  for (const row of rows) {
    const kind = row.operators > 1 ? 'several, in float' : row.kind;
    const key = `${kind} ${allowedSteps(row)}`;
    const sum = kinds.get(key) ?? {...row, kind, nodes: 0, count: 0, equal: 0, one: 0, max_steps: 0};
    sum.nodes += 1;
    for (const figure of ['count', 'equal', 'one']) sum[figure] += row[figure];
    sum.max_steps = Math.max(sum.max_steps, row.max_steps);
    kinds.set(key, sum);
  }
  return table(COLUMNS, [...kinds].sort(([a], [b]) => a < b ? -1 : 1).map(([, sum]) => sum));
}

// {rows, failures}: a row per operator, and what is further apart than it may be as sentences.
// `count` samples are used; `work` is an empty folder.
export async function compareNodes(octavo, model, samples, {count, work, onRow = () => {}}) {
  const cuts = JSON.parse(cutter('list', model));
  if (cuts.length === 0) throw new Error(`${model} has no quantized operators`);
  const names = [...new Set(cuts.flatMap((cut) => [...cut.inputs, cut.output]))];
  const runs = await innerValues(model, samples, names, count);
  const shapes = names.map((name) => {
    const {dtype, shape} = runs[0].get(name);
    return [name, {dtype, shape}];
  });
  writeFileSync(join(work, 'shapes.json'), JSON.stringify(Object.fromEntries(shapes)));
  cutter('build', model, join(work, 'shapes.json'), work);

  const rows = [];
  const failures = [];
  for (const [number, cut] of cuts.entries()) {
    const label = `${cut.kind} '${cut.node}'`;
    try {
      const row = {...cut, ...await compareCut(octavo, work, number, cut, runs)};
      rows.push(row);
      onRow(number, row);
      const excess = excessOf(row);
      if (excess) failures.push(`${label}: ${excess}`);
    } catch (error) {
      failures.push(`${label}: ${error.message}`);
    }
  }
  return {rows, failures};
}

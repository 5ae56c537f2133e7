#!/usr/bin/env node
// Runs every operator of an exported QDQ model alone, on the integers that ONNX Runtime computes
// before it, in both runtimes.  Conv, Gemm, MatMul, Concat, MaxPool and what only moves elements
// must give equal integers; of the others the differences are reported.
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {compareArrays, percent, share} from './compare.mjs';
import {ROOT} from './models.mjs';
import {formatNpy} from './npy.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openModel, runFeed} from './onnx_runtime.mjs';
import {cutSamples} from './samples.mjs';
import {readValues} from './values.mjs';

const USAGE = 'usage: node_by_node.mjs MODEL.onnx SAMPLES.npz [--octavo BINARY] [--samples N]\n' +
    '           [--work DIR] [--verbose]';
const CUTTER = fileURLToPath(new URL('submodels.py', import.meta.url));

function cutter(...args) {
  return execFileSync('/usr/bin/python3', ['-B', CUTTER, ...args], {maxBuffer: 1 << 28});
}

// For each of the first samples a Map of tensor name -> array, as ONNX Runtime computes them.
async function innerValues(model, samples, names, count) {
  const plain = await openModel(model, {doubleQdqRemover: false});
  const given = new Set([...plain.inputNames, ...plain.outputNames]);
  const session = await openModel(model, {doubleQdqRemover: false,
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
  const data = arrays.flatMap((array) => [...array.data]);
  return {dtype: arrays[0].dtype, shape: [data.length], data};
}

async function compareCut(octavo, folder, number, cut, runs) {
  const at = (suffix) => join(folder, `${number}${suffix}`);
  writeSamples(at('.samples'), cut, runs);
  octavo.run(at('.onnx'), at('.samples'), at('.octavo'));
  const own = readValues(at('.octavo')).get('result');
  if (!own) throw new Error('octavo run gave no value named result');

  const session = await openModel(at('.onnx'), {doubleQdqRemover: false});
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

function summarize(rows) {
  const kinds = new Map();
  for (const row of rows) {
    const key = `${row.kind}${row.demanded ? '' : ' '}`;
    const sum = kinds.get(key) ?? {nodes: 0, count: 0, equal: 0, one: 0, max_steps: 0};
    sum.nodes += 1;
    sum.demanded = row.demanded;
    for (const figure of ['count', 'equal', 'one']) sum[figure] += row[figure];
    sum.max_steps = Math.max(sum.max_steps, row.max_steps);
    kinds.set(key, sum);
  }
  const lines = ['| operator | nodes | elements | equal | within 1 step | most steps | must be equal |',
                 '| --- | ---: | ---: | ---: | ---: | ---: | --- |'];
  for (const [kind, sum] of [...kinds].sort()) {
    lines.push(`| ${kind.trim()} | ${sum.nodes} | ${sum.count} | ${percent(share(sum.equal, sum.count))} ` +
               `| ${percent(share(sum.equal + sum.one, sum.count))} | ${sum.max_steps} ` +
               `| ${sum.demanded ? 'yes' : ''} |`);
  }
  return lines.join('\n');
}

async function compareAll(octavo, model, samples, options, work) {
  const cuts = JSON.parse(cutter('list', model));
  if (cuts.length === 0) throw new Error(`${model} has no quantized operators`);
  const names = [...new Set(cuts.flatMap((cut) => [...cut.inputs, cut.output]))];
  const runs = await innerValues(model, samples, names, Number(options.samples));
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
      const different = row.count - row.equal;
      if (options.verbose) console.log(`${number}: ${label}: ${different} of ${row.count} differ`);
      if (cut.demanded && different > 0) {
        failures.push(`${label}: ${different} of ${row.count} elements differ, by up to ` +
                      `${row.max_steps} steps`);
      }
    } catch (error) {
      failures.push(`${label}: ${error.message}`);
    }
  }
  return {rows, failures};
}

async function main() {
  const {values: options, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
      samples: {type: 'string', default: '2'},
      work: {type: 'string'},
      verbose: {type: 'boolean'},
    },
  });
  if (positionals.length !== 2) {
    console.error(USAGE);
    process.exit(2);
  }
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-nodes-'));
  mkdirSync(work, {recursive: true});
  try {
    const octavo = new Octavo(options.octavo);
    const {rows, failures} = await compareAll(octavo, ...positionals, options, work);
    console.log(summarize(rows));
    for (const failure of failures) console.error(`FAILED ${failure}`);
    process.exitCode = failures.length ? 1 : 0;
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
}

main().catch((error) => {
  console.error(`node_by_node: error: ${error.message}`);
  process.exit(1);
});

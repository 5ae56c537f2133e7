// SPDX-License-Identifier: Apache-2.0
// Latency of Octavo's runtime and of ONNX Runtime on the same int8 models: each float model is
// quantized with u8 and with i8 activations, then both run it in turns, so that a busy machine
// disturbs both alike.  A ratio is ONNX Runtime's time over Octavo's: the median of the turns'
// medians, and that of the shortest runs, which a busy machine disturbs least.  ONNX Runtime runs
// within Node.js, whose calls cost it some 0.1 ms; that matters to the smallest models alone.  Its
// threads sleep before Octavo's process has read the model, and that process ends with its turn.
//
//   node bench.mjs MODEL.onnx.. [--threads 1,2] [--activations u8,i8] [--turns 5] [--runs 20]
//                  [--data random:0:4] [--octavo PATH] [--work DIR]
import {mkdirSync, mkdtempSync} from 'node:fs';
import {cpus, loadavg, tmpdir} from 'node:os';
import {basename, dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {openModel, runFeed} from './onnx_runtime.mjs';
import {Octavo} from './octavo.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function geometricMean(numbers) {
  return Math.exp(numbers.reduce((sum, number) => sum + Math.log(number), 0) / numbers.length);
}

const arrayTypes = {float32: Float32Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array,
                    int64: BigInt64Array, bool: Uint8Array};

// Numbers from 0 to 6, which are indices of any table and floats of a usual range.
function feedFor(session) {
  const entries = session.inputMetadata.map(({name, type, shape}) => {
    const dims = shape.map((extent) => (typeof extent === 'number' && extent > 0 ? extent : 1));
    const count = dims.reduce((product, extent) => product * extent, 1);
    if (!arrayTypes[type]) throw new Error(`input '${name}' is ${type}, which is not made here`);
    const one = type === 'int64' ? BigInt : Number;
    const values = type === 'bool' ? 2 : 7;
    const data = arrayTypes[type].from({length: count}, (_, i) => one(i % values));
    return [name, {dtype: type, shape: dims, data}];
  });
  return Object.fromEntries(entries);
}

async function onnxRuntimeMilliseconds(session, feed, runs) {
  const times = [];
  for (let run = 0; run < runs; ++run) {
    const began = process.hrtime.bigint();
    await runFeed(session, feed);
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  return {median: median(times), least: Math.min(...times)};
}

async function compare(octavo, path, {threads, turns, runs}) {
  const session = await openModel(path, {threads});
  const feed = feedFor(session);
  await onnxRuntimeMilliseconds(session, feed, 3);
  const own = [], peer = [];
  for (let turn = 0; turn < turns; ++turn) {
    const {stdout} = octavo.call('bench', path, '--json', '--threads', `${threads}`,
                                 '--runs', `${runs}`);
    const {median_ms, min_ms} = JSON.parse(stdout);
    own.push({median: median_ms, least: min_ms});
    peer.push(await onnxRuntimeMilliseconds(session, feed, runs));
  }
  await session.release();
  const least = (turns_) => Math.min(...turns_.map((turn) => turn.least));
  return {
    own: median(own.map((turn) => turn.median)),
    peer: median(peer.map((turn) => turn.median)),
    ratio: median(peer.map((turn, i) => turn.median / own[i].median)),
    ownLeast: least(own),
    peerLeast: least(peer),
  };
}

function nameOf(model) {
  const file = basename(model, '.onnx');
  return file === 'model' ? basename(dirname(resolve(model))) : file;
}

// Threads that wait for each other lose far more on a busy machine than one that runs alone.
function warnWhereBusy() {
  const [load] = loadavg();
  if (load > 0.5) {
    console.error(`the load is ${load.toFixed(1)}: ratios of several threads say nothing now`);
  }
}

// Prints a row of Markdown for each comparison, and in the end what they come to.
class Table {
  #ratios = new Map();

  add(model, activations, threads, {own, peer, ratio, ownLeast, peerLeast}) {
    const leastRatio = peerLeast / ownLeast;
    const cells = [own, peer, ratio, ownLeast, peerLeast, leastRatio].map((x) => x.toFixed(2));
    console.log(`| ${[model, activations, threads, ...cells].join(' | ')} |`);
    const key = `${activations}, ${threads} thread${threads > 1 ? 's' : ''}`;
    this.#ratios.set(key, [...(this.#ratios.get(key) ?? []), {ratio, leastRatio}]);
  }

  sum() {
    for (const [key, rows] of this.#ratios) {
      const ratios = rows.map((row) => row.ratio), least = rows.map((row) => row.leastRatio);
      console.log(`\n${key}: geometric mean ${geometricMean(ratios).toFixed(2)}, least ` +
                  `${Math.min(...ratios).toFixed(2)}; of shortest runs ` +
                  `${geometricMean(least).toFixed(2)}, least ${Math.min(...least).toFixed(2)}`);
    }
  }
}

async function main() {
  const {values, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      threads: {type: 'string', default: '1,2'},
      activations: {type: 'string', default: 'u8,i8'},
      turns: {type: 'string', default: '5'},
      runs: {type: 'string', default: '20'},
      data: {type: 'string', default: 'random:0:4'},
      octavo: {type: 'string', default: join(root, 'build/release/client/octavo')},
      work: {type: 'string'},
    },
  });
  if (positionals.length === 0) throw new Error('give the float models to quantize and run');
  warnWhereBusy();
  const octavo = new Octavo(values.octavo);
  const work = values.work ?? mkdtempSync(join(tmpdir(), 'octavo-bench-'));
  mkdirSync(work, {recursive: true});
  const figures = {turns: Number(values.turns), runs: Number(values.runs)};
  const table = new Table();
  console.log(`On ${cpus().length} cores of ${cpus()[0].model.trim()}:\n`);
  console.log('| model | activations | threads | Octavo ms | ONNX Runtime ms | ratio ' +
              '| shortest | shortest | ratio |');
  console.log('|---|---|--:|--:|--:|--:|--:|--:|--:|');
  for (const [index, model] of positionals.entries()) {
    for (const activations of values.activations.split(',')) {
      const path = join(work, `${index}.${activations}.onnx`);
      octavo.call('optimize', model, '--data', values.data, '-o', path, '--quiet',
                  '--activations', activations);
      for (const threads of values.threads.split(',').map(Number)) {
        const times = await compare(octavo, path, {threads, ...figures});
        table.add(nameOf(model), activations, threads, times);
      }
    }
  }
  table.sum();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

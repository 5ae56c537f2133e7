// Latency of Octavo's runtime beside ONNX Runtime's on the same int8 models: each float model is
// folded with u8 and with i8 activations, then both run it in turns, so that a busy machine
// disturbs both alike.  A ratio is ONNX Runtime's time over Octavo's, the median of the turns.
//
//   node bench.mjs MODEL.onnx.. [--threads 1,2] [--activations u8,i8] [--turns 5] [--runs 20]
//                  [--data random:0:4] [--octavo PATH] [--work DIR]
import {mkdirSync, mkdtempSync} from 'node:fs';
import {loadavg, tmpdir} from 'node:os';
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

// Numbers from 0 to 6, which are indices of any table and reals of both runtimes' usual range.
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
  return median(times);
}

async function compare(octavo, path, {threads, turns, runs}) {
  const session = await openModel(path, {threads});
  const feed = feedFor(session);
  await onnxRuntimeMilliseconds(session, feed, 3);
  const own = [], peer = [], ratios = [];
  for (let turn = 0; turn < turns; ++turn) {
    const {stdout} = octavo.call('bench', path, '--json', '--threads', `${threads}`,
                                 '--runs', `${runs}`);
    own.push(JSON.parse(stdout).median_ms);
    peer.push(await onnxRuntimeMilliseconds(session, feed, runs));
    ratios.push(peer.at(-1) / own.at(-1));
  }
  await session.release();
  return {own: median(own), peer: median(peer), ratio: median(ratios)};
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
  if (positionals.length === 0) throw new Error('give the float models to fold and to run');
  warnWhereBusy();
  const octavo = new Octavo(values.octavo);
  const work = values.work ?? mkdtempSync(join(tmpdir(), 'octavo-bench-'));
  mkdirSync(work, {recursive: true});
  const figures = {turns: Number(values.turns), runs: Number(values.runs)};
  const ratios = new Map();
  console.log('| model | activations | threads | Octavo ms | ONNX Runtime ms | ratio |');
  console.log('|---|---|--:|--:|--:|--:|');
  for (const [index, model] of positionals.entries()) {
    for (const activations of values.activations.split(',')) {
      const path = join(work, `${index}.${activations}.onnx`);
      octavo.call('optimize', model, '--data', values.data, '-o', path, '--quiet',
                  '--activations', activations);
      for (const threads of values.threads.split(',').map(Number)) {
        const {own, peer, ratio} = await compare(octavo, path, {threads, ...figures});
        console.log(`| ${nameOf(model)} | ${activations} | ${threads} | ${own.toFixed(2)} | ` +
                    `${peer.toFixed(2)} | ${ratio.toFixed(2)} |`);
        const key = `${activations}, ${threads} threads`;
        ratios.set(key, [...(ratios.get(key) ?? []), ratio]);
      }
    }
  }
  for (const [key, list] of ratios) {
    console.log(`${key}: geometric mean ${geometricMean(list).toFixed(2)}, ` +
                `least ${Math.min(...list).toFixed(2)}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

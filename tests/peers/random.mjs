#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Random float models (random_graphs.py), and the shared models with --shared: quantized for a
// target and run by ONNX Runtime with no session option set.  It must accept each model, and every
// output must be within one LSB of what `octavo run` computes.  Exit 1 where one is not.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {cpus, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {compareArrays} from './compare.mjs';
import {scalesOfReport} from './compare_folders.mjs';
import {listModels, ROOT, SHARED} from './models.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openWithDefaults, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const USAGE = 'usage: random.mjs [--count N] [--seed S] [--only K] [--shared] [--target NAME]\n' +
    '           [--octavo BINARY] [--work DIR] [--json FILE] [-- OPTION OF octavo optimize..]';
const modes = new Map();  // name of a mode -> graphs
const GENERATOR = fileURLToPath(new URL('random_graphs.py', import.meta.url));
const VARIANTS = [[], ['--activations', 'i8'], ['--per-tensor'], ['--emit', 'qlinear'],
                  ['--weights-only', 'Gather']];
// Constants are folded, and Rescales merged, as the mode computes; both sides then run the export
// as ONNX defines it.  Every other graph draws one of these.
const MODES = [['--numerics', 'tflite'], ['--numerics', 'tflite-single'],
               ['--numerics', 'glow-interpreter'], ['--numerics', 'glow-cpu'],
               ['--numerics', 'pow2', '--schema', 'pow2', '--activations', 'i8']];

function generated(work, {seed, count, only}) {
  const folder = join(work, 'graphs');
  const numbers = only === undefined ? Array.from({length: Number(count)}, (_, i) => `${i}`) : [only];
  if (numbers.length === 0) return [];
  execFileSync('/usr/bin/python3', ['-B', GENERATOR, folder, '--seed', seed, '--count', count,
                                    ...(only === undefined ? [] : ['--only', only])]);
  return numbers.map((name) => {
    const samples = join(folder, name, 'samples.npz');
    return {name, model: join(folder, name, 'model.onnx'), calibration: samples, samples,
            options: VARIANTS[Number(name) % VARIANTS.length],
            mode: name % 2 ? MODES[Math.floor(name / 2) % MODES.length] : []};
  });
}

async function runPeer(model, samples) {
  try {
    return await runSamples(await openWithDefaults(model), readNpz(samples));
  } catch (error) {
    throw new Error(`ONNX Runtime: ${error.message}`);
  }
}

// In the mode that was drawn, or in `onnx` where that one does not define an operator.
function quantize(octavo, model, at, options) {
  const run = (...drawn) => octavo.optimize(
      model.model, model.calibration, at('out.onnx'), at('report.json'), ...(model.options ?? []),
      ...drawn, ...options);
  if (!model.mode?.length) return run();
  try {
    const result = run(...model.mode);
    modes.set(model.mode[1], (modes.get(model.mode[1]) ?? 0) + 1);
    return result;
  } catch (error) {
    if (!/numerics mode '[^']*' does not define/.test(error.message)) throw error;
    return run();
  }
}

// Outputs of the model in LSBs between the two runtimes, and how many elements are beyond one.
async function compareOutputs(octavo, model, folder, target, more) {
  const at = (name) => join(folder, name);
  const {report} = quantize(octavo, model, at, ['--target', target, ...more]);
  octavo.run(at('out.onnx'), model.samples, at('octavo'));
  const peer = await runPeer(at('out.onnx'), model.samples);
  const [values, scales] = [readValues(at('octavo')), scalesOfReport(report)];
  return [...peer].map(([name, expected]) => {
    const value = values.get(name);
    if (!value) throw new Error(`octavo run gives no output '${name}'`);
    const {max_steps, more: beyond} =
        compareArrays({...value, scale: scales.get(name) ?? value.scale}, expected);
    return {output: name, max_steps, beyond};
  });
}

function kindOf(message) {
  if (/^octavo optimize/.test(message)) return 'refused by octavo';
  if (/^octavo run/.test(message)) return 'not run by octavo';
  return /^ONNX Runtime/.test(message) ? 'refused' : 'apart';
}

async function judge(octavo, model, work, target, more) {
  const folder = join(work, 'job');
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  try {
    const outputs = await compareOutputs(octavo, model, folder, target, more);
    const apart = outputs.filter((row) => row.beyond > 0);
    if (apart.length === 0) return null;
    const sentence = apart.map((row) => `'${row.output}' by ${row.max_steps}`).join(', ');
    return {name: model.name, kind: 'apart', message: sentence};
  } catch (error) {
    return {name: model.name, kind: kindOf(error.message), message: error.message};
  }
}

async function main() {
  const {values: options, positionals: more} = parseArgs({
    allowPositionals: true,
    options: {
      octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
      count: {type: 'string', default: '100'}, seed: {type: 'string', default: '0'},
      only: {type: 'string'}, shared: {type: 'boolean'}, json: {type: 'string'},
      target: {type: 'string', default: 'onnxruntime'}, work: {type: 'string'},
      help: {type: 'boolean'}}});
  if (options.help) return console.log(USAGE);
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-random-'));
  const octavo = new Octavo(options.octavo);
  const failures = [];
  let models = 0;
  try {
    const shared = options.shared ? listModels(SHARED) : [];
    if (options.shared && !existsSync(SHARED)) console.log(`skipped: there is no ${SHARED}`);
    for (const model of [...generated(work, options), ...shared]) {
      ++models;
      const failure = await judge(octavo, model, work, options.target, more);
      if (failure) failures.push(failure);
    }
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
  for (const {name, kind, message} of failures) console.error(`FAILED ${name}: ${kind}: ${message}`);
  if (options.json) writeFileSync(options.json, JSON.stringify(failures, null, 1) + '\n');
  console.log(`${models - failures.length} of ${models} models for ${options.target}, ` +
              `seed ${options.seed}: accepted and within one LSB (${cpus()[0].model})`);
  if (modes.size) console.log(`in other numerics modes: ${[...modes].map(([m, n]) => `${m} ${n}`)}`);
  process.exitCode = failures.length || models === 0 ? 1 : 0;
}

main().catch((error) => {
  console.error(`random: error: ${error.message}`);
  process.exit(1);
});

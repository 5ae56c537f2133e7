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
const GENERATOR = fileURLToPath(new URL('random_graphs.py', import.meta.url));
const VARIANTS = [[], ['--activations', 'i8'], ['--per-tensor'], ['--emit', 'qlinear']];

function generated(work, {seed, count, only}) {
  const folder = join(work, 'graphs');
  const numbers = only === undefined ? Array.from({length: Number(count)}, (_, i) => `${i}`) : [only];
  if (numbers.length === 0) return [];
  execFileSync('/usr/bin/python3', ['-B', GENERATOR, folder, '--seed', seed, '--count', count,
                                    ...(only === undefined ? [] : ['--only', only])]);
  return numbers.map((name) => {
    const samples = join(folder, name, 'samples.npz');
    return {name, model: join(folder, name, 'model.onnx'), calibration: samples, samples,
            options: VARIANTS[Number(name) % VARIANTS.length]};
  });
}

async function runPeer(model, samples) {
  try {
    return await runSamples(await openWithDefaults(model), readNpz(samples));
  } catch (error) {
    throw new Error(`ONNX Runtime: ${error.message}`);
  }
}

// Outputs of the model in LSBs between the two runtimes, and how many elements are beyond one.
async function compareOutputs(octavo, model, folder, target, more) {
  const at = (name) => join(folder, name);
  const {report} = octavo.optimize(model.model, model.calibration, at('out.onnx'), at('report.json'),
                                   '--target', target, ...(model.options ?? []), ...more);
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
  process.exitCode = failures.length || models === 0 ? 1 : 0;
}

main().catch((error) => {
  console.error(`random: error: ${error.message}`);
  process.exit(1);
});

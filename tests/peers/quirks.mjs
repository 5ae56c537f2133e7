#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Every quirk of the target's table against the runtime itself, with no session option set: the
// quirk is there (a model that meets it is refused, or an output is more than one LSB from what
// `octavo run` computes), the default target warns of it or avoids it, and the export for the target
// is accepted and within one LSB, if need be with the session option that the row names.  Fails as
// well for a row without a case, and for one that a newer version of the runtime has mended.
// quirk_cases.py writes the models.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {compareArrays} from './compare.mjs';
import {table} from './figures.mjs';
import {ROOT} from './models.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openWithDefaults, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const TARGET = 'onnxruntime-1.30';
const WRITER = fileURLToPath(new URL('quirk_cases.py', import.meta.url));
const described = (target) =>
  JSON.parse(readFileSync(join(ROOT, `core/target/builtin/${target}.json`), 'utf8'));
const ROWS = described(TARGET).quirks;
// Ids of those that the default target avoids, too.
const AVOIDED = described('cpu-int8').avoid;

// The session option that the sentence of a row names, as `extra` of a session; else nothing.
function sessionOf(row) {
  if (row.instead !== 'session-option') return {};
  const [, key, value] = /session\.(\w+) is (\w+)/.exec(row.does);
  return {[key]: value};
}

// LSBs between the runtime and `octavo run` on one model; the message of a refusal otherwise.
async function distance(octavo, folder, name, scale, session = {}) {
  const at = (file) => join(folder, file);
  octavo.run(at(`${name}.onnx`), at('samples.npz'), at(name), '--allow-non-finite');
  const [own] = [...readValues(at(name)).values()];
  let peer;
  try {
    peer = await runSamples(await openWithDefaults(at(`${name}.onnx`), session), readNpz(at('samples.npz')));
  } catch (error) {
    return {refusal: error.message};
  }
  return {own, steps: compareArrays({...own, scale}, [...peer.values()][0]).max_steps};
}

function warnsOf(octavo, folder, row, options) {
  const report = join(folder, 'default.json');
  octavo.call('optimize', join(folder, 'model.onnx'), '--no-quantize', '-o',
              join(folder, 'default.onnx'), '--report', report, '--quiet', ...options);
  return JSON.parse(readFileSync(report, 'utf8')).warnings.some(
      ({code, message, node}) => code === row.code && message.includes(row.does) && node !== '');
}

async function judge(octavo, folder, name) {
  const row = {code: 'runtime_quirk', warns: true, ...ROWS.find(({id}) => id === name.split('.')[0])};
  const {scale, options} = JSON.parse(readFileSync(join(folder, 'case.json'), 'utf8'));
  octavo.call('optimize', join(folder, 'model.onnx'), '--no-quantize', '-o',
              join(folder, 'avoided.onnx'), '--target', TARGET, '--quiet', ...options);
  const met = await distance(octavo, folder, 'model', scale);
  const avoided = await distance(octavo, folder, 'avoided', scale, sessionOf(row));
  const warned = warnsOf(octavo, folder, row, options);
  const byDefault = AVOIDED.includes(row.id);
  const failures = [];
  if (!met.refusal && met.steps <= 1) failures.push('the runtime has no such quirk');
  if (avoided.refusal) failures.push(`the export for ${TARGET} is refused: ${avoided.refusal}`);
  if (avoided.steps > 1) failures.push(`the export for ${TARGET} is ${avoided.steps} LSBs off`);
  if (warned !== (row.warns && !byDefault)) failures.push(`the default target ${warned ? 'warns' : 'does not warn'}`);
  if (byDefault && !((await distance(octavo, folder, 'default', scale)).steps <= 1)) {
    failures.push('the export for the default target does not avoid it');
  }
  if (met.own && avoided.own) {
    const {max_steps: steps} = compareArrays({...avoided.own, scale}, met.own);
    if (steps > 1) failures.push(`the export for ${TARGET} changed the model by ${steps} LSBs`);
  }
  return {name, instead: row.instead, met: met.refusal ? 'refused' : met.steps,
          avoided: avoided.refusal ? 'refused' : avoided.steps, failures};
}

const COLUMNS = {
  'quirk and case': (r) => r.name,
  'instead': (r) => r.instead,
  'LSBs as written': (r) => r.met,
  'LSBs of the export': (r) => r.avoided,
};

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
    work: {type: 'string'}}});
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-quirks-'));
  const rows = [];
  const failures = [];
  try {
    execFileSync('/usr/bin/python3', ['-B', WRITER, work]);
    const names = readdirSync(work).sort();
    for (const {id} of ROWS) {
      if (!names.some((name) => name.split('.')[0] === id)) failures.push(`${id}: no case`);
    }
    for (const name of names) {
      if (!ROWS.some(({id}) => id === name.split('.')[0])) {
        failures.push(`${name}: no row of ${TARGET}`);
        continue;
      }
      const row = await judge(new Octavo(options.octavo), join(work, name), name);
      rows.push(row);
      failures.push(...row.failures.map((text) => `${name}: ${text}`));
    }
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
  console.log(table(COLUMNS, rows));
  for (const failure of failures) console.error(`FAILED ${failure}`);
  process.exitCode = failures.length || rows.length === 0 ? 1 : 0;
}

main().catch((error) => {
  console.error(`quirks: error: ${error.message}`);
  process.exit(1);
});

#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Quantized models with the structures that other exporters give, in both runtimes: as they are,
// and after `octavo optimize --no-quantize`.  Prints a Markdown table; exit 1 where the runtimes
// differ in what a model means.  ONNX Runtime unoptimized computes what it says; its optimizer
// also quantizes float weights and biases of integer ops, so its own results move then.
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
import {openModel, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const WRITER = fileURLToPath(new URL('../e2e/foreign_models.py', import.meta.url));
// Of 1/255 of the output's range.
const MOST_STEPS = 1;

async function compare(octavo, folder) {
  const at = (name) => join(folder, name);
  const samples = at('samples.npz');
  octavo.call('optimize', at('quantized.onnx'), '--no-quantize', '-o', at('after.onnx'), '--report',
              at('report.json'), '--quiet');
  const {model, ledger} = JSON.parse(readFileSync(at('report.json'), 'utf8'));
  const own = (name) => {
    octavo.run(at(`${name}.onnx`), samples, at(name));
    return [...readValues(at(name)).values()][0];
  };
  const peer = async (name, optimizations) => {
    const session =
        await openModel(at(`${name}.onnx`), {optimizations, doubleQdqRemover: false});
    return [...(await runSamples(session, readNpz(samples))).values()][0];
  };
  const steps = (a, b) => compareArrays({...a, scale: null}, b).max_steps;
  const [before, after] = [own('quantized'), own('after')];
  return {name: folder.split('/').at(-1), nodes: [model.nodes_before, model.nodes_after],
          effects: [...new Set(ledger.map((entry) => entry.effect))].sort(),
          own: steps(after, before), before: steps(before, await peer('quantized', 'none')),
          after: steps(after, await peer('after', 'none')),
          fused: steps(after, await peer('after', 'all'))};
}

const COLUMNS = {
  'model': (r) => r.name,
  'nodes before': (r) => r.nodes[0],
  'after': (r) => r.nodes[1],
  'effects': (r) => r.effects.join(', '),
  'steps by optimizing': (r) => r.own,
  'from ONNX Runtime before': (r) => r.before,
  'and after': (r) => r.after,
  'ONNX Runtime fused': (r) => r.fused,
};

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')}}});
  const work = mkdtempSync(join(tmpdir(), 'octavo-foreign-'));
  const octavo = new Octavo(options.octavo);
  const rows = [];
  const failures = [];
  try {
    execFileSync('/usr/bin/python3', ['-B', WRITER, work]);
    for (const name of readdirSync(work).sort()) {
      try {
        rows.push(await compare(octavo, join(work, name)));
      } catch (error) {
        failures.push(`${name}: ${error.message}`);
      }
    }
  } finally {
    rmSync(work, {recursive: true});
  }
  console.log(table(COLUMNS, rows));
  for (const {name, before, after} of rows) {
    if (Math.max(before, after) > MOST_STEPS) failures.push(`${name}: ${before} and ${after} steps`);
  }
  for (const failure of failures) console.error(`FAILED ${failure}`);
  process.exitCode = failures.length ? 1 : 0;
}

main().catch((error) => {
  console.error(`foreign: error: ${error.message}`);
  process.exit(1);
});

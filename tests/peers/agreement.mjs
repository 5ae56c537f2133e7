#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Quantizes models with u8 and i8 activations, weights per channel and per tensor, and compares Octavo
// with ONNX Runtime on each: every operator alone, on ONNX Runtime's integers, and whole networks
// compared with the difference between ONNX Runtime fused and unfused.  Prints Markdown; exit 1 where an operator is
// further apart than it may be.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {cpus, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {compareArrays} from './compare.mjs';
import {scalesOfReport} from './compare_folders.mjs';
import {table} from './figures.mjs';
import {listModels, ROOT, SHARED} from './models.mjs';
import {compareNodes, nodesTable} from './nodes.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openModel, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const USAGE = 'usage: agreement.mjs [--octavo BINARY] [--small] [--models a,b] [--samples N]\n' +
    '           [--work DIR] [--out FILE.md]\n' +
    '--small: the digits and the models that generated_models.py makes; otherwise also the shared\n' +
    'models and architectures of the shared generator.  --samples: for the operators (default 2)';
const GENERATOR = fileURLToPath(new URL('generated_models.py', import.meta.url));
const ZOO = join(ROOT, '..', 'shared', 'bench', 'genmodels.py');
const ZOO_MODELS = ['mobilenetv2', 'resnet18', 'bert4x384'];
const VARIANTS = ['u8', 'i8'].flatMap((activations) =>
  ['per-channel', 'per-tensor'].map((weights) => ({activations, weights})));

// u8 times s8 without VNNI runs in ONNX Runtime on instructions that saturate 16-bit sums.
function hasVnni() {
  const flags = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  return /^flags.*\b(avx512_vnni|avx_vnni)\b/m.test(flags);
}

function machine() {
  return `${cpus()[0].model}${hasVnni() ? ' with VNNI' : ', no VNNI'}`;
}

function generated(folder, zoo) {
  execFileSync('/usr/bin/python3', ['-B', GENERATOR, folder, ...zoo], {stdio: ['ignore', 'pipe', 2]})
      .toString();
  const names = ['images', 'encoder', 'signals', 'volumes', 'gates', ...zoo.slice(2)];
  return names.map((name) => {
    const samples = join(folder, name, 'samples.npz');
    return {name, model: join(folder, name, 'model.onnx'), calibration: samples, samples};
  });
}

function chooseModels(options, work) {
  const folder = join(work, 'generated');
  if (options.small) return [...listModels('', ['digits']), ...generated(folder, [])];
  if (!existsSync(SHARED)) console.log(`skipped: the shared models, as there is no ${SHARED}\n`);
  if (!existsSync(ZOO)) console.log(`skipped: ${ZOO_MODELS}, as there is no ${ZOO}\n`);
  const zoo = existsSync(ZOO) ? ['--zoo', ZOO, ...ZOO_MODELS] : [];
  const all = [...listModels(SHARED), ...generated(folder, zoo)];
  const chosen = options.models?.split(',');
  return chosen ? all.filter((model) => chosen.includes(model.name)) : all;
}

// How many elements of all outputs are 0, 1, 2 and more steps apart.
function distribution(values, expectations, scales) {
  const sum = {count: 0, equal: 0, one: 0, two: 0, more: 0, max_steps: 0};
  for (const [name, expected] of expectations) {
    const value = values.get(name);
    if (!value) throw new Error(`there is no output '${name}'`);
    const row = compareArrays({...value, scale: scales.get(name) ?? value.scale}, expected);
    for (const key of ['count', 'equal', 'one', 'two']) sum[key] += row[key];
    sum.more += row.more - row.two;
    sum.max_steps = Math.max(sum.max_steps, row.max_steps);
  }
  return sum;
}

// One model in one variant: {nodes, failures, ours, theirs}.
async function compare(octavo, model, {activations, weights}, folder, count) {
  mkdirSync(folder, {recursive: true});
  const at = (name) => join(folder, name);
  const {report} = octavo.optimize(model.model, model.calibration, at('int8.onnx'), at('report.json'),
                                   '--activations', activations, `--${weights}`);
  mkdirSync(at('nodes'));
  const {rows, failures} =
      await compareNodes(octavo, at('int8.onnx'), model.samples, {count, work: at('nodes')});
  octavo.run(at('int8.onnx'), model.samples, at('octavo'));
  const samples = readNpz(model.samples);
  const run = async (optimizations) => runSamples(
      await openModel(at('int8.onnx'), {optimizations, doubleQdqRemover: false, int8Kernels: true}),
      samples);
  const [fused, unfused] = [await run('all'), await run('none')];
  const scales = scalesOfReport(report);
  return {name: model.name, activations, weights, nodes: rows, failures,
          ours: distribution(readValues(at('octavo')), fused, scales),
          theirs: distribution(unfused, fused, scales)};
}

const share = (part, {count}) => count ? `${(100 * part / count).toFixed(3)}` : '';
const steps = (of) => ({
  'equal, %': (r) => share(of(r).equal, of(r)),
  '1 step': (r) => share(of(r).one, of(r)),
  '2 steps': (r) => share(of(r).two, of(r)),
  'more': (r) => share(of(r).more, of(r)),
  'most': (r) => of(r).max_steps,
});
// Headings of the second half end in a space, which tells them apart and is not printed.
const spaced = (columns) =>
  Object.fromEntries(Object.entries(columns).map(([heading, cell]) => [`${heading} `, cell]));
const NETWORKS = {
  'model': (r) => r.name,
  'activations': (r) => r.activations,
  'weights': (r) => r.weights,
  'elements': (r) => r.ours.count,
  ...steps((r) => r.ours),
  '': () => '',
  ...spaced(steps((r) => r.theirs)),
};

function describe(rows) {
  const operators = ['u8', 'i8'].flatMap((activations) => {
    const nodes = rows.filter((r) => r.activations === activations).flatMap((r) => r.nodes);
    return nodes.length ? [`Operators alone, ${activations} activations and i8 weights:`,
                           nodesTable(nodes)] : [];
  });
  return [`On: ${machine()}.`, ...operators,
          'Outputs of whole networks in steps: `octavo run` from ONNX Runtime fused; then ONNX ' +
          'Runtime unfused from itself fused:', table(NETWORKS, rows)].join('\n\n');
}

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
    small: {type: 'boolean'}, models: {type: 'string'}, samples: {type: 'string', default: '2'},
    work: {type: 'string'}, out: {type: 'string'}, help: {type: 'boolean'}}});
  if (options.help) return console.log(USAGE);
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-agreement-'));
  const octavo = new Octavo(options.octavo);
  const rows = [];
  const failures = [];
  try {
    for (const model of chooseModels(options, work)) {
      for (const variant of VARIANTS) {
        const label = `${model.name} ${variant.activations} ${variant.weights}`;
        const folder = join(work, label.replaceAll(' ', '.'));
        const row = await compare(octavo, model, variant, folder, Number(options.samples));
        rows.push(row);
        const asserted = variant.activations === 'i8' || hasVnni();
        if (asserted) failures.push(...row.failures.map((text) => `${label}: ${text}`));
        else for (const text of row.failures) console.log(`not asserted, no VNNI: ${label}: ${text}`);
        rmSync(folder, {recursive: true});
      }
    }
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
  console.log(describe(rows));
  if (options.out) writeFileSync(options.out, describe(rows) + '\n');
  for (const failure of failures) console.error(`FAILED ${failure}`);
  process.exitCode = failures.length ? 1 : 0;
}

main().catch((error) => {
  console.error(`agreement: error: ${error.message}`);
  process.exit(1);
});

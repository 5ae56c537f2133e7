#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime's optimizer makes of nodes that stay float: it saves its model, whose operators
// are counted.  A Conv, ConvTranspose or Gemm that the export keeps in float must not run in
// integers, and the integer ones must.  A product whose weights alone are integers runs as
// MatMulNBits, of which the export warns; with the session option that the warning names, it must
// compute in float.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {table} from './figures.mjs';
import {listModels, ROOT, SHARED} from './models.mjs';
import {formatNpy} from './npy.mjs';
import {Octavo} from './octavo.mjs';
import {openModel, openWithDefaults, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const COUNTER = fileURLToPath(new URL('operators.py', import.meta.url));

// Of the model that ONNX Runtime runs, {operator: nodes}.
function operatorsOf(path) {
  return JSON.parse(execFileSync('/usr/bin/python3', ['-B', COUNTER, path]));
}

const sum = (counts, names) => names.reduce((total, name) => total + (counts[name] ?? 0), 0);

const PRODUCTS = ['Conv', 'FusedConv', 'ConvTranspose', 'Gemm', 'FusedGemm'];
const INTEGER_PRODUCTS = ['QLinearConv', 'QLinearConvTranspose', 'QGemm'];

// The nodes that `options` keep in float must be all that stay so.
const KEPT = [
  {name: 'digits', keep: []},
  {name: 'digits', keep: ['Conv']},
  {name: 'digits', keep: ['Gemm']},
  {name: 'fastestdet', keep: ['input.408', 'input.96']},
];

async function judgeKept(octavo, work, {name, keep}) {
  const [model] = listModels(SHARED, [name]);
  const at = (file) => join(work, file);
  // ONNX Runtime has no integer Conv with a float result: an output's would run in float.
  const {report} = octavo.optimize(model.model, model.calibration, at('kept.onnx'), at('report.json'),
                                   '--no-float-outputs',
                                   ...keep.flatMap((each) => ['--keep-float', each]));
  await openWithDefaults(at('kept.onnx'), {}, at('run.onnx'));
  const written = sum(operatorsOf(at('kept.onnx')), PRODUCTS);
  const kept = report.float_nodes.filter(({op}) => PRODUCTS.includes(op)).length;
  const run = operatorsOf(at('run.onnx'));
  const failures = [];
  if ((kept > 0) !== (keep.length > 0)) failures.push(`${kept} products stay float`);
  if (sum(run, INTEGER_PRODUCTS) !== written - kept || sum(run, PRODUCTS) !== kept) {
    failures.push(`ONNX Runtime computes ${sum(run, INTEGER_PRODUCTS)} products in integers, ` +
                  `${written - kept} of ${written} should be`);
  }
  if (report.warnings.some(({code}) => code === 'ort_requantizes')) failures.push('it warns');
  return {name: [name, ...keep].join(' '), products: written, kept,
          integer: sum(run, INTEGER_PRODUCTS), nbits: '', sqnr: '', failures};
}

function sqnr(own, peer) {
  let [signal, noise] = [0, 0];
  own.data.forEach((value, i) => {
    signal += value * value;
    noise += (value - peer.data[i]) ** 2;
  });
  return 10 * Math.log10(signal / noise);
}

const WEIGHTS_ONLY = `graph(%x: tensor<1x64xf32>) -> (%y) {
  const %v = random(1) : tensor<64x48xf32>
  const %w = random(2) : tensor<48x32xf32>
  const %u = random(3) : tensor<32x16xf32>
  const %b = random(4) : tensor<16xf32>
  %h = MatMul(%x, %v) : tensor<1x48xf32>
  %r = Tanh(%h) : tensor<1x48xf32>
  %i = MatMul(%r, %w) : tensor<1x32xf32>
  %s = Tanh(%i) : tensor<1x32xf32>
  %y = Gemm(%s, %u, %b) : tensor<1x16xf32>
}
`;

// As 'MatMul 'h': onnxruntime .. unless session.KEY is VALUE'.
function sessionOf({message}) {
  const [, key, value] = /session\.(\w+) is (\w+)/.exec(message);
  return {[key]: value};
}

async function judgeWeightsOnly(octavo, work) {
  const at = (file) => join(work, file);
  writeFileSync(at('net.graph'), WEIGHTS_ONLY);
  const x = {dtype: 'float32', shape: [16, 64],
             data: Float32Array.from({length: 16 * 64}, (_, i) => Math.sin(i * i))};
  writeFileSync(at('x.npy'), formatNpy(x));
  const {report} = octavo.optimize(at('net.graph'), at('x.npy'), at('net.onnx'), at('report.json'),
                                   '--weights-only', 'MatMul', '--weights-only', 'Gemm',
                                   '--keep-float', 'Tanh');
  octavo.run(at('net.onnx'), at('x.npy'), at('own'));
  const [own] = [...readValues(at('own')).values()];
  const samples = new Map([['x', x]]);
  const warnings = report.warnings.filter(({code}) => code === 'ort_matmul_nbits');
  const failures = [];
  if (warnings.length !== 3) failures.push(`${warnings.length} warnings for 3 products`);
  const outputOf = async (session) => [...(await runSamples(session, samples)).values()][0];
  const rounded = sqnr(own, await outputOf(await openWithDefaults(at('net.onnx'), {}, at('run.onnx'))));
  const {MatMulNBits: nbits = 0} = operatorsOf(at('run.onnx'));
  if (nbits !== 3) failures.push(`ONNX Runtime runs ${nbits} MatMulNBits`);
  if (rounded > 80) failures.push(`ONNX Runtime no longer rounds: ${rounded.toFixed(1)} dB`);
  const option = warnings.length ? sessionOf(warnings[0]) : {};
  const exact = sqnr(own, await outputOf(await openWithDefaults(at('net.onnx'), option)));
  const compared = sqnr(own, await outputOf(await openModel(at('net.onnx'))));
  for (const [what, db] of [['the option of the warning', exact], ['the comparisons', compared]]) {
    if (!(db >= 100)) failures.push(`with ${what} ONNX Runtime agrees to ${db.toFixed(1)} dB only`);
  }
  return {name: 'weights only', products: 3, kept: 3, integer: 0, nbits,
          sqnr: `${rounded.toFixed(1)}, ${exact.toFixed(1)}`, failures};
}

const COLUMNS = {
  'model and nodes kept in float': (r) => r.name,
  'products': (r) => r.products,
  'in float': (r) => r.kept,
  'QLinear': (r) => r.integer,
  'MatMulNBits': (r) => r.nbits,
  'dB by default, with the option': (r) => r.sqnr,
};

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')}}});
  const octavo = new Octavo(options.octavo);
  const work = mkdtempSync(join(tmpdir(), 'octavo-requantized-'));
  const rows = [];
  try {
    for (const test of KEPT) {
      if (test.name !== 'digits' && !existsSync(SHARED)) continue;
      rows.push(await judgeKept(octavo, work, test));
    }
    rows.push(await judgeWeightsOnly(octavo, work));
  } finally {
    rmSync(work, {recursive: true});
  }
  console.log(table(COLUMNS, rows));
  for (const {name, failures} of rows) {
    for (const failure of failures) console.error(`FAILED ${name}: ${failure}`);
  }
  process.exitCode = rows.some(({failures}) => failures.length > 0) ? 1 : 0;
}

main().catch((error) => {
  console.error(`requantized: error: ${error.message}`);
  process.exit(1);
});

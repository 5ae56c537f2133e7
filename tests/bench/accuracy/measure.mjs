// SPDX-License-Identifier: Apache-2.0
// The accuracy of one model with one set of options: float and int8 model both run in ONNX Runtime on
// samples that did not calibrate.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {topClasses} from '../../peers/compare.mjs';
import {formatNpy} from '../../peers/npy.mjs';
import {openModel, runSamples} from '../../peers/onnx_runtime.mjs';
import {splitOf} from './splits.mjs';

// Noise of all samples together, in dB; Infinity without any.
function sqnr(float, integer) {
  let signal = 0;
  let noise = 0;
  for (let i = 0; i < float.data.length; ++i) {
    const x = Number(float.data[i]);
    signal += x * x;
    noise += (x - Number(integer.data[i])) ** 2;
  }
  return noise === 0 ? Infinity : 10 * Math.log10(signal / noise);
}

const right = (classes, labels) => classes.filter((c, i) => c === labels[i]).length;

// What matters to who uses a classifier: [classes that differ from the float model's, samples that
// are right less than before]; null for other models.
function classesLost(float, integer, labels) {
  const [before, after] = [topClasses(float), topClasses(integer)];
  if (!before || !after) return null;
  return {changed: after.filter((c, i) => c !== before[i]).length,
          lost: labels ? right(before, labels) - right(after, labels) : null};
}

async function outputsOf(path, input, evaluation) {
  const session = await openModel(path, {doubleQdqRemover: false});
  return runSamples(session, new Map([[input, evaluation]]));
}

// Prepares a model once for any number of options.
export async function prepare(model, folder) {
  mkdirSync(folder, {recursive: true});
  const split = splitOf(model);
  const files = {};
  for (const part of ['calibration', 'evaluation']) {
    files[part] = join(folder, `${part}.npy`);
    writeFileSync(files[part], formatNpy(split[part]));
  }
  return {...split, name: model.name, model: model.model, folder, files,
          float: await outputsOf(model.model, split.input, split.evaluation)};
}

// The worst output's figures: what ONNX Runtime computes, and what the job's report says of it.
export async function measure(octavo, prepared, options) {
  const out = join(prepared.folder, 'int8.onnx');
  const {report, seconds} = octavo.optimize(
      prepared.model, prepared.files.calibration, out, join(prepared.folder, 'report.json'),
      '--evaluate', prepared.files.evaluation, ...options);
  const integer = await outputsOf(out, prepared.input, prepared.evaluation);
  const figures = [...prepared.float].map(([name, values]) => sqnr(values, integer.get(name)));
  const reported = report.numerics.outputs.map((output) => output.sqnr_db ?? Infinity);
  const [first] = prepared.float.keys();
  return {sqnr_db: Math.min(...figures), reported_db: Math.min(...reported), seconds,
          bytes: readFileSync(out).length,
          classes: classesLost(prepared.float.get(first), integer.get(first), prepared.labels)};
}

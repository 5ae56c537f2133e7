// SPDX-License-Identifier: Apache-2.0
// Takes one model through Octavo and ONNX Runtime: the figures of one row, and what they miss.
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

import {share, topClasses} from './compare.mjs';
import {compareAll, scalesOfReport} from './compare_folders.mjs';
import {leastSqnr} from './figures.mjs';
import {missedGoals} from './models.mjs';
import {parseNpy} from './npy.mjs';
import {readNpz} from './npz.mjs';
import {openModel, runSamples} from './onnx_runtime.mjs';
import {readValues, writeValues} from './values.mjs';

async function runPeer(model, samples, folder, options) {
  const session = await openModel(model, options);
  writeValues(folder, await runSamples(session, readNpz(samples)));
}

// Classes of the first output, null where it has none.
function classesOf(folder) {
  return topClasses([...readValues(folder).values()][0]);
}

// Top-1 in points and the number of samples that changed class; {} without labels.
function accuracy(labelsPath, floatFolder, integerFolder) {
  const [float, integer] = [classesOf(floatFolder), classesOf(integerFolder)];
  if (!labelsPath || !float || !integer) return {};
  const labels = [...parseNpy(readFileSync(labelsPath), labelsPath).data].map(Number);
  if (labels.length !== float.length || labels.length !== integer.length) {
    throw new Error(`${labelsPath}: ${labels.length} labels for ${float.length} samples`);
  }
  const points = (classes) => 100 * classes.filter((c, i) => c === labels[i]).length / labels.length;
  const changed = float.filter((c, i) => c !== integer[i]).length;
  return {top1_float: points(float), top1_integer: points(integer), changed};
}

function agreement(rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const count = sum('count');
  return {
    equal: share(sum('equal'), count),
    within_one: share(sum('equal') + sum('one'), count),
    max_steps: Math.max(...rows.map((row) => row.max_steps)),
    nominal_step: rows.some((row) => row.nominal_step),
  };
}

export async function measure(octavo, model, folder, options) {
  mkdirSync(folder, {recursive: true});
  const at = (name) => join(folder, name);
  const out = at(`${model.name}.int8.onnx`);
  const {report, seconds} =
      octavo.optimize(model.model, model.calibration, out, at('report.json'), ...options);
  octavo.run(out, model.samples, at('octavo'));
  await runPeer(out, model.samples, at('peer'), {doubleQdqRemover: false});
  await runPeer(model.model, model.samples, at('float'), {});
  const figures = {
    name: model.name,
    ...report.model,
    rescales: report.rescales,
    float_nodes: report.float_nodes.length,
    sqnr_db: leastSqnr(report),
    ...agreement(compareAll(at('octavo'), at('peer'), scalesOfReport(report))),
    ...accuracy(model.labels, at('float'), at('octavo')),
    seconds,
  };
  return {...figures, missed: missedGoals(model.goals, figures)};
}

// SPDX-License-Identifier: Apache-2.0
// The models that are compared, and what each must reach.
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {percent} from './compare.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SHARED = join(ROOT, '..', 'shared', 'models');

// `steps`: least share of output elements equal or one step from ONNX Runtime on the same graph.
// `float`: least top-1 of the float model, in percent.  `drop`: most points of it lost.  `changed`:
// most samples whose class differs from the float model's.
const GOALS = {
  fastestdet: {steps: 0.99},
  magika_v3_3: {changed: 2},
  mnist_cntk: {steps: 0.99, drop: 0.3},
  mnist_cnn_pytorch: {steps: 0.99, drop: 0.3},
  squeezenet_products: {steps: 0.99},
  superres_224: {steps: 0.99},
  ultraface_rfb320: {steps: 0.99},
};

function digits() {
  const at = (file) => join(ROOT, 'tests', 'data', 'digits', file);
  return {name: 'digits', model: at('model.onnx'), calibration: at('calibration.npz'),
          samples: at('heldout.npz'), labels: at('labels.npy'),
          goals: {steps: 0.99, float: 98, drop: 0.5}};
}

function shared(folder, name) {
  const at = (file) => join(folder, name, file);
  const labels = existsSync(at('labels.npy')) ? at('labels.npy') : null;
  return {name, model: at('model.onnx'), calibration: at('samples.npz'),
          samples: at('samples.npz'), labels, goals: GOALS[name]};
}

// The repository's own model, and those of `folder` if it is there.
export function listModels(folder, chosen) {
  const all = [digits()];
  if (existsSync(folder)) all.push(...Object.keys(GOALS).map((name) => shared(folder, name)));
  if (!chosen) return all;
  return chosen.map((name) => {
    const found = all.find((model) => model.name === name);
    if (!found) throw new Error(`there is no model '${name}'; there are ${all.map((m) => m.name)}`);
    return found;
  });
}

// What `figures` of measure.mjs fall short of, as sentences.
export function missedGoals(goals, figures) {
  const missed = [];
  if (goals.steps !== undefined && !(figures.within_one >= goals.steps)) {
    missed.push(`${percent(figures.within_one)} of the output elements are within one step of ` +
                `ONNX Runtime, at least ${percent(goals.steps)} must be`);
  }
  if (goals.float !== undefined && !(figures.top1_float >= goals.float)) {
    missed.push(`top-1 of the float model is ${figures.top1_float} %, at least ${goals.float} % ` +
                'must be');
  }
  const drop = figures.top1_float - figures.top1_integer;
  // Beyond the goal by more than the rounding of these differences.
  if (goals.drop !== undefined && !(drop <= goals.drop + 1e-9)) {
    missed.push(`top-1 fell by ${drop.toFixed(2)} points, at most ${goals.drop} may be lost`);
  }
  if (goals.changed !== undefined && !(figures.changed <= goals.changed)) {
    missed.push(`${figures.changed} samples changed class, at most ${goals.changed} may`);
  }
  return missed;
}

// SPDX-License-Identifier: Apache-2.0
// Which samples of a model calibrate and which evaluate: never the same ones.  Where a model has few
// samples, mirrored, reversed and darker ones are further samples.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

import {ROOT} from '../../peers/models.mjs';
import {elementCount, parseNpy} from '../../peers/npy.mjs';
import {readNpz} from '../../peers/npz.mjs';

const range = (begin, end, step = 1) => {
  const all = [];
  for (let i = begin; i < end; i += step) all.push(i);
  return all;
};

// The samples at these indices.
function pick({dtype, shape, data}, indices) {
  const size = elementCount(shape.slice(1));
  const picked = new data.constructor(indices.length * size);
  indices.forEach((index, i) => picked.set(data.subarray(index * size, (index + 1) * size), i * size));
  return {dtype, shape: [indices.length, ...shape.slice(1)], data: picked};
}

// The elements in reverse along an axis.
function reverse({dtype, shape, data}, axis) {
  const inner = elementCount(shape.slice(axis + 1));
  const extent = shape[axis];
  const reversed = new data.constructor(data.length);
  for (let row = 0; row * inner < data.length; ++row) {
    const block = row - row % extent;
    const to = block + extent - 1 - row % extent;
    reversed.set(data.subarray(row * inner, (row + 1) * inner), to * inner);
  }
  return {dtype, shape, data: reversed};
}

const mirrored = (array) => reverse(array, array.shape.length - 1);
const upended = (array) => reverse(array, array.shape.length - 2);
const darker = (array, factor) => ({...array, data: array.data.map((x) => x * factor)});

function joined(...arrays) {
  const data = new arrays[0].data.constructor(arrays.reduce((sum, a) => sum + a.data.length, 0));
  let at = 0;
  for (const array of arrays) {
    data.set(array.data, at);
    at += array.data.length;
  }
  return {...arrays[0], shape: [arrays.reduce((sum, a) => sum + a.shape[0], 0),
                                ...arrays[0].shape.slice(1)], data};
}

const withMirrored = (array) => joined(array, mirrored(array));

// Of each model with one input: all samples -> those that calibrate, those that evaluate.  `labels`:
// the indices of the labels of the latter.
const SPLITS = {
  mnist_cntk: {calibration: (x) => pick(x, range(0, 64)),
               evaluation: (x) => pick(x, range(1000, 1300)), labels: range(1000, 1300)},
  mnist_cnn_pytorch: {calibration: (x) => pick(x, range(0, 64)),
                      evaluation: (x) => pick(x, range(1000, 1300)), labels: range(1000, 1300)},
  fastestdet: {calibration: (x) => pick(x, range(0, 4)),
               evaluation: (x) => withMirrored(pick(x, range(4, 8)))},
  ultraface_rfb320: {calibration: (x) => pick(x, range(0, 3)),
                     evaluation: (x) => withMirrored(pick(x, range(3, 5)))},
  magika_v3_3: {calibration: (x) => pick(x, range(0, x.shape[0], 2)),
                evaluation: (x) => pick(x, range(1, x.shape[0], 2))},
  squeezenet_products: {
    calibration: (x) => joined(x, darker(x, 0.8), upended(x)),
    evaluation: (x) => joined(mirrored(x), mirrored(upended(x)), darker(x, 0.9)),
  },
  superres_224: {calibration: (x) => joined(x, upended(x)),
                 evaluation: (x) => joined(mirrored(x), mirrored(upended(x)))},
};

const only = (arrays, path) => {
  if (arrays.size !== 1) throw new Error(`${path}: one array is expected, not ${arrays.size}`);
  return [...arrays][0];
};

function labelsAt(path, indices) {
  if (!path || !indices) return null;
  const {data} = parseNpy(readFileSync(path), path);
  return indices.map((i) => Number(data[i]));
}

// {input, calibration, evaluation, labels} of a model of peers/models.mjs.
export function splitOf(model) {
  if (model.name === 'digits') {
    const at = (file) => join(ROOT, 'tests', 'data', 'digits', file);
    const [input, calibration] = only(readNpz(at('calibration.npz')), 'calibration.npz');
    const evaluation = pick(only(readNpz(at('heldout.npz')), 'heldout.npz')[1], range(0, 300));
    return {input, calibration, evaluation, labels: labelsAt(at('labels.npy'), range(0, 300))};
  }
  const split = SPLITS[model.name];
  const [input, all] = only(readNpz(model.samples), model.samples);
  return {input, calibration: split.calibration(all), evaluation: split.evaluation(all),
          labels: labelsAt(model.labels, split.labels)};
}

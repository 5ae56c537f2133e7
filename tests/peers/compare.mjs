// SPDX-License-Identifier: Apache-2.0
// Compares arrays that should hold the same quantized values, in quantization steps.
import {elementCount} from './npy.mjs';

// One step of element i: from the value's scales (a number, or one per index of `axis`).  Without
// scales a float value has no grid; 1/255 of the expected range is used, and is `nominal`.
export function stepOf({dtype, shape, scale, axis}, expected) {
  if (!dtype.startsWith('float')) return {at: () => 1, nominal: false};
  const scales = scale === null || scale === undefined ? [] : [scale].flat();
  if (scales.length === 1) return {at: () => scales[0], nominal: false};
  if (scales.length > 1) {
    if (scales.length !== shape[axis]) {
      throw new Error(`${scales.length} scales for shape [${shape}] along axis ${axis}`);
    }
    const inner = elementCount(shape.slice(axis + 1));
    return {at: (i) => scales[Math.floor(i / inner) % scales.length], nominal: false};
  }
  let low = 0;
  let high = 0;
  for (const value of expected.data) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const step = (high - low) / 255 || 1;
  return {at: () => step, nominal: true};
}

function difference(a, b) {
  if (Number.isNaN(a) && Number.isNaN(b)) return 0;
  return a === b ? 0 : Math.abs(a - b);
}

// `value` and `expected` are {dtype, shape, data}; `value` may carry scale and axis.
export function compareArrays(value, expected) {
  if (value.shape.join() !== expected.shape.join()) {
    throw new Error(`shapes [${value.shape}] and [${expected.shape}] differ`);
  }
  const {at, nominal} = stepOf(value, expected);
  const result = {count: value.data.length, equal: 0, one: 0, two: 0, more: 0, max_steps: 0,
                  max_abs: 0, nominal_step: nominal};
  for (let i = 0; i < value.data.length; ++i) {
    const apart = difference(Number(value.data[i]), Number(expected.data[i]));
    const steps = Number.isNaN(apart) ? Infinity : Math.round(apart / at(i));
    ++result[steps === 0 ? 'equal' : steps === 1 ? 'one' : 'more'];
    if (steps === 2) ++result.two;  // which are among `more`
    if (steps > result.max_steps) result.max_steps = steps;
    if (!(apart <= result.max_abs)) result.max_abs = apart;
  }
  return result;
}

// The index of the largest element of each row of a [rows, classes] array; null for other shapes.
export function topClasses({shape, data}) {
  if (shape.length !== 2 || shape[1] < 2) return null;
  const classes = shape[1];
  return Array.from({length: shape[0]}, (_, row) => {
    let best = 0;
    for (let i = 1; i < classes; ++i) {
      if (data[row * classes + i] > data[row * classes + best]) best = i;
    }
    return best;
  });
}

// How many rows have the same class; null where there are no classes.
export function equalClasses(value, expected) {
  const [own, other] = [topClasses(value), topClasses(expected)];
  if (own === null || other === null) return null;
  return own.filter((best, row) => best === other[row]).length;
}

export function share(part, whole) {
  return whole === 0 ? 1 : part / whole;
}

// Rounded down, so that 100 % means all of them.
export function percent(ratio) {
  return `${(Math.floor(ratio * 1e5) / 1e3).toFixed(3)} %`;
}

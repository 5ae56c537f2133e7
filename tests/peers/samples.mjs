// SPDX-License-Identifier: Apache-2.0
// Samples are cut along axis 0 into batches of the model; results of the batches are joined again:
// along axis 0 where that is the model's batch, else stacked in a new leading axis.
import {elementCount} from './npy.mjs';

// A dynamic leading dimension takes `batch`, a fixed one stays what it is.
function batchSize(input, batch) {
  const leading = input.shape[0];
  return typeof leading === 'number' && leading > 0 ? leading : batch;
}

// Lists of feeds, one per batch.  `inputs`: [{name, shape}], `arrays`: Map as readNpz gives it.
export function cutSamples(inputs, arrays, batch) {
  let count;
  const cut = inputs.map((input) => {
    const array = arrays.get(input.name);
    if (!array) throw new Error(`no samples for graph input '${input.name}'`);
    const size = batchSize(input, batch);
    const batches = array.shape[0] / size;
    if (!Number.isInteger(batches)) {
      throw new Error(`input '${input.name}': ${array.shape[0]} samples are not whole batches of ` +
                      `${size}`);
    }
    if (count !== undefined && count !== batches) {
      throw new Error(`input '${input.name}' has ${batches} batches, another input ${count}`);
    }
    count = batches;
    return {name: input.name, array, size};
  });
  const feeds = [];
  for (let i = 0; i < (count ?? 0); ++i) {
    feeds.push(Object.fromEntries(cut.map(({name, array, size}) => {
      const shape = [size, ...array.shape.slice(1)];
      const length = elementCount(shape);
      const data = array.data.subarray(i * length, (i + 1) * length);
      return [name, {dtype: array.dtype, shape, data}];
    })));
  }
  return {feeds, batch: cut[0]?.size ?? 1};
}

// `parts`: the same value of each batch, in order.
export function joinParts(parts, batch) {
  const {dtype, shape, data} = parts[0];
  const total = parts.reduce((sum, part) => sum + part.data.length, 0);
  const joined = new data.constructor(total);
  let at = 0;
  for (const part of parts) {
    if (part.shape.slice(1).join() !== shape.slice(1).join()) {
      throw new Error(`batches give shapes ${shape} and ${part.shape}`);
    }
    joined.set(part.data, at);
    at += part.data.length;
  }
  const alongBatch = shape.length > 0 && shape[0] === batch;
  const rest = alongBatch ? shape.slice(1) : shape;
  const leading = alongBatch ? parts.length * batch : parts.length;
  return {dtype, shape: [leading, ...rest], data: joined};
}

// SPDX-License-Identifier: Apache-2.0
// Runs models in ONNX Runtime on the CPU: one thread unless asked, so that a run is repeatable.
import {readFileSync} from 'node:fs';
import ort from 'onnxruntime-node';

import {cutSamples, joinParts} from './samples.mjs';

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

// A protobuf field of bytes or of an embedded message.
function field(number, payload) {
  return Buffer.concat([varint(number * 8 + 2), varint(payload.length), payload]);
}

// The model with more graph outputs.  Protobuf joins two occurrences of one embedded message, so
// a second `graph` (field 7) that holds nothing but outputs (12) by name (1) is enough.
export function withOutputs(model, names) {
  const outputs = names.map((name) => field(12, field(1, Buffer.from(name))));
  return Buffer.concat([model, field(7, Buffer.concat(outputs))]);
}

// `optimizations`: all | none.  `doubleQdqRemover` false keeps Q-DQ-Q-DQ as written, where ONNX
// Runtime would otherwise merge two roundings into one.  `values`: further values to give out;
// what is given out cannot be fused away, so it may change the program that runs.  `int8Kernels`:
// operators on int8 are fused as they are; on x86 ONNX Runtime otherwise turns int8 between
// QuantizeLinear and DequantizeLinear into uint8 first and leaves the rest in float.  A product whose
// weights alone are integers computes in float: by default its operand is rounded to int8.
// `saveAs`: where ONNX Runtime writes the model as its optimizer leaves it.
export async function openModel(path, {optimizations = 'all', doubleQdqRemover = true,
                                       int8Kernels = false, values = [], threads = 1, saveAs} = {}) {
  const known = {all: 'all', none: 'disabled'};
  if (!known[optimizations]) throw new Error(`optimizations are all or none, not ${optimizations}`);
  const model = values.length ? withOutputs(readFileSync(path), values) : path;
  return ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: known[optimizations],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(saveAs ? {optimizedModelFilePath: saveAs} : {}),
    extra: {session: {disable_double_qdq_remover: doubleQdqRemover ? '0' : '1',
                      qdq_matmulnbits_accuracy_level: '1',
                      ...(int8Kernels ? {qdqisint8allowed: '1'} : {})}},
  });
}

// As a user opens a model who sets no option, or only these of the session; `saveAs` as above.
export async function openWithDefaults(path, session = {}, saveAs) {
  return ort.InferenceSession.create(path, {
    ...(saveAs ? {optimizedModelFilePath: saveAs} : {}),
    extra: {session},
  });
}

function toTensor({dtype, shape, data}) {
  return new ort.Tensor(dtype, data, shape);
}

function fromTensor(tensor, name) {
  if (tensor.type === 'string') throw new Error(`value '${name}' holds strings`);
  return {dtype: tensor.type, shape: [...tensor.dims], data: tensor.data};
}

// Map of output name -> array, for one batch.
export async function runFeed(session, feed) {
  const tensors = Object.entries(feed).map(([name, array]) => [name, toTensor(array)]);
  const results = await session.run(Object.fromEntries(tensors));
  return new Map(session.outputNames.map((name) => [name, fromTensor(results[name], name)]));
}

// Map of output name -> array over all samples.
export async function runSamples(session, arrays, {batch = 1} = {}) {
  const {feeds, batch: size} = cutSamples(session.inputMetadata, arrays, batch);
  if (feeds.length === 0) throw new Error('there are no samples');
  const parts = new Map(session.outputNames.map((name) => [name, []]));
  for (const feed of feeds) {
    for (const [name, array] of await runFeed(session, feed)) parts.get(name).push(array);
  }
  return new Map([...parts].map(([name, list]) => [name, joinParts(list, size)]));
}

// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {compareArrays, equalClasses, percent, topClasses} from './compare.mjs';
import {scalesOfReport} from './compare_folders.mjs';
import {missedGoals} from './models.mjs';
import {reasonsByCount} from './rescales.mjs';
import {cutSamples, joinParts} from './samples.mjs';

const floats = (values, more = {}) =>
  ({dtype: 'float32', shape: [values.length], data: Float32Array.from(values), ...more});

test('integers are compared as they are stored', () => {
  const value = {dtype: 'uint8', shape: [4], data: Uint8Array.of(1, 2, 3, 255)};
  const expected = {dtype: 'uint8', shape: [4], data: Uint8Array.of(1, 3, 5, 0)};
  assert.deepEqual(compareArrays(value, expected),
                   {count: 4, equal: 1, one: 1, two: 1, more: 2, max_steps: 255, max_abs: 255,
                    nominal_step: false});
});

test('a float counts in steps of its scale', () => {
  const result = compareArrays(floats([0, 0.5, 1.0], {scale: 0.5}), floats([0, 1.0, 2.0]));
  assert.deepEqual([result.equal, result.one, result.more], [1, 1, 1]);
});

test('each channel has a scale of its own', () => {
  const value = {dtype: 'float32', shape: [2, 2], data: Float32Array.of(1, 1, 1, 1),
                 scale: [1, 0.5], axis: 1};
  const expected = {dtype: 'float32', shape: [2, 2], data: Float32Array.of(2, 2, 2, 2)};
  const result = compareArrays(value, expected);
  assert.deepEqual([result.one, result.more], [2, 2]);
});

test('without a scale a step is a 255th of the range, and the result says so', () => {
  const result = compareArrays(floats([0, 2, 255]), floats([0, 1, 255]));
  assert.deepEqual([result.equal, result.one, result.nominal_step], [2, 1, true]);
});

test('NaN equals NaN only', () => {
  const result = compareArrays(floats([NaN, NaN], {scale: 1}), floats([NaN, 0]));
  assert.deepEqual([result.equal, result.more, result.max_steps], [1, 1, Infinity]);
});

test('different shapes are not compared', () => {
  assert.throws(() => compareArrays(floats([1]), floats([1, 2])), /shapes \[1\] and \[2\]/);
});

test('the class of a row is its first largest element', () => {
  const value = {shape: [2, 3], data: [1, 5, 5, 9, 2, 3]};
  assert.deepEqual(topClasses(value), [1, 0]);
  assert.equal(equalClasses(value, {shape: [2, 3], data: [0, 1, 0, 0, 1, 0]}), 1);
  assert.equal(topClasses({shape: [1, 4, 4], data: []}), null);
});

test('a share just under the whole is not printed as the whole', () => {
  assert.equal(percent(1), '100.000 %');
  assert.equal(percent(0.9999999), '99.999 %');
});

test('scales come from the report by output name', () => {
  const report = {numerics: {outputs: [{name: 'y', scale: 0.25}, {name: 'z', scale: null}]}};
  assert.deepEqual([...scalesOfReport(report)], [['y', 0.25], ['z', null]]);
});

test('samples are cut into batches and results joined along the batch', () => {
  const arrays = new Map([['x', {dtype: 'int8', shape: [4, 1], data: Int8Array.of(1, 2, 3, 4)}]]);
  const {feeds, batch} = cutSamples([{name: 'x', shape: ['N', 1]}], arrays, 2);
  assert.deepEqual(feeds.map((feed) => [...feed.x.data]), [[1, 2], [3, 4]]);
  assert.deepEqual(joinParts(feeds.map((feed) => feed.x), batch),
                   {dtype: 'int8', shape: [4, 1], data: Int8Array.of(1, 2, 3, 4)});
});

test('a fixed batch wins, and a result without the batch is stacked', () => {
  const arrays = new Map([['x', {dtype: 'int8', shape: [4], data: new Int8Array(4)}]]);
  const {feeds, batch} = cutSamples([{name: 'x', shape: [2]}], arrays, 1);
  assert.equal(feeds.length, 2);
  const part = {dtype: 'int8', shape: [3], data: new Int8Array(3)};
  assert.deepEqual(joinParts([part, part], batch).shape, [2, 3]);
  const scalar = {dtype: 'int8', shape: [], data: new Int8Array(1)};
  assert.deepEqual(joinParts([scalar, scalar], batch).shape, [2]);
});

test('samples that do not fit are refused by name', () => {
  const arrays = new Map([['x', {dtype: 'int8', shape: [3], data: new Int8Array(3)}]]);
  assert.throws(() => cutSamples([{name: 'x', shape: [2]}], arrays, 1), /'x': 3 samples/);
  assert.throws(() => cutSamples([{name: 'y', shape: [1]}], arrays, 1), /graph input 'y'/);
});

test('a missed goal is a sentence, a met one is silent', () => {
  const good = {within_one: 0.99, top1_float: 99, top1_integer: 98.7, changed: 2};
  assert.deepEqual(missedGoals({steps: 0.99, drop: 0.3, changed: 2}, good), []);
  const bad = {within_one: 0.98, top1_float: 99, top1_integer: 98.6, changed: 3};
  assert.equal(missedGoals({steps: 0.99, float: 99.1, drop: 0.3, changed: 2}, bad).length, 4);
  assert.equal(missedGoals({drop: 0.3}, {}).length, 1, 'a figure that is absent is no success');
});

test('Rescales that stay are counted by reason, without names', () => {
  const kept = [{node: 'a', reason: "'x' has other readers; Concat 'y' needs equal parameters"},
                {node: 'b', reason: 'past the limit'},
                {node: 'c', reason: "'z' has other readers; Concat '5' needs equal parameters"}];
  assert.deepEqual(reasonsByCount(kept),
                   [['has other readers; Concat needs equal parameters', 2], ['past the limit', 1]]);
});

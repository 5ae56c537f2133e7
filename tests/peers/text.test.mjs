// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {decode, lettersApart} from './text.mjs';

test('a letter that goes on counts once, and twice with a place of none between', () => {
  const places = [1, 1, 0, 1, 2, 2];
  const data = places.flatMap((best) => [0, 1, 2].map((i) => i === best ? 1 : 0));
  assert.deepEqual(decode({shape: [1, 6, 3], data}, ['a', 'b']), ['aab']);
});

test('lines are decoded apart from each other', () => {
  const data = [0, 1, 0, 1];
  assert.deepEqual(decode({shape: [2, 1, 2], data}, ['x']), ['x', 'x']);
});

test('letters apart are insertions, losses and changes', () => {
  assert.equal(lettersApart('1234', '1234'), 0);
  assert.equal(lettersApart('1234', '134'), 1);
  assert.equal(lettersApart('1234', '91235'), 2);
  assert.equal(lettersApart('', '12'), 2);
});

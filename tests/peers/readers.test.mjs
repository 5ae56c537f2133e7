// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {formatNpy, parseNpy} from './npy.mjs';
import {readNpz} from './npz.mjs';
import {fileNames, readValues, writeValues} from './values.mjs';

const DIGITS = fileURLToPath(new URL('../data/digits/', import.meta.url));

function inFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-peers-'));
  try {
    body(folder);
  } finally {
    rmSync(folder, {recursive: true});
  }
}

// A zip with one stored member; `wide` writes its sizes the way of files over 4 GiB.
function storedZip(name, bytes, wide) {
  const local = Buffer.alloc(30 + name.length);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(name.length, 26);
  local.write(name, 30);
  const extra = Buffer.alloc(wide ? 20 : 0);
  const entry = Buffer.alloc(46 + name.length);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt32LE(wide ? 0xffffffff : bytes.length, 20);
  entry.writeUInt32LE(wide ? 0xffffffff : bytes.length, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt16LE(extra.length, 30);
  entry.write(name, 46);
  if (wide) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(16, 2);
    extra.writeBigUInt64LE(BigInt(bytes.length), 4);
    extra.writeBigUInt64LE(BigInt(bytes.length), 12);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(local.length + bytes.length, 16);
  return Buffer.concat([local, bytes, entry, extra, end]);
}

test('an array survives writing and reading', () => {
  const arrays = [
    {dtype: 'float32', shape: [2, 3], data: Float32Array.of(1, -2, 3.5, 0, NaN, Infinity)},
    {dtype: 'int8', shape: [4], data: Int8Array.of(-128, 127, 0, -1)},
    {dtype: 'int64', shape: [], data: BigInt64Array.of(-5n)},
    {dtype: 'bool', shape: [0, 2], data: new Uint8Array(0)},
  ];
  for (const array of arrays) assert.deepEqual(parseNpy(formatNpy(array), 'a'), array);
});

test('data starts at a multiple of 64, as numpy writes it', () => {
  for (const shape of [[1], [1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1]]) {
    const file = formatNpy({dtype: 'int8', shape, data: Int8Array.of(7)});
    assert.equal(file.length % 64, 1);
  }
});

test('what is not read is named', () => {
  const file = formatNpy({dtype: 'int8', shape: [4], data: new Int8Array(4)});
  const patched = (from, to) => Buffer.from(file.toString('latin1').replace(from, to), 'latin1');
  assert.throws(() => parseNpy(Buffer.from('PK'), 'x.npy'), /x\.npy: not an \.npy file/);
  assert.throws(() => parseNpy(file.subarray(0, -1), 'x.npy'), /3 bytes of data, 4 needed/);
  assert.throws(() => parseNpy(patched('False', 'True '), 'x.npy'), /Fortran/);
  assert.throws(() => parseNpy(patched('|i1', '>i4'), 'x.npy'), /'>i4' are not read/);
});

test('deflated members of an archive that numpy wrote', () => {
  const images = readNpz(join(DIGITS, 'calibration.npz')).get('image');
  assert.deepEqual(images.shape, [64, 1, 28, 28]);
  assert.equal(images.dtype, 'float32');
  assert.equal(Math.max(...images.data), 1);
  assert.ok(images.data.every((value) => value === Math.fround(Math.round(value * 255) / 255)));
});

test('stored members, with short and with wide sizes', () => inFolder((folder) => {
  const array = {dtype: 'int16', shape: [2], data: Int16Array.of(300, -300)};
  for (const wide of [false, true]) {
    writeFileSync(join(folder, 'a.npz'), storedZip('x.npy', formatNpy(array), wide));
    assert.deepEqual(readNpz(join(folder, 'a.npz')), new Map([['x', array]]));
  }
  writeFileSync(join(folder, 'a.npz'), Buffer.alloc(100));
  assert.throws(() => readNpz(join(folder, 'a.npz')), /not a zip archive/);
}));

test('file names of values are plain and never meet', () => {
  assert.deepEqual(fileNames(['a/b:0', 'a_b_0', 'a b 0', 'x-1.y']),
                   ['a_b_0.npy', 'a_b_0-2.npy', 'a_b_0-3.npy', 'x-1.y.npy']);
  assert.equal(fileNames(['n'.repeat(200)])[0].length, 124);
});

test('a folder of values survives writing and reading', () => inFolder((folder) => {
  const array = {dtype: 'uint8', shape: [1, 2], data: Uint8Array.of(1, 255)};
  writeValues(folder, new Map([['a/b', array]]));
  const value = readValues(folder).get('a/b');
  assert.deepEqual(value, {...array, name: 'a/b', file: 'a_b.npy', scale: null, zero_point: null,
                           axis: null});
}));

// SPDX-License-Identifier: Apache-2.0
// Reads numpy's .npz, a zip of .npy members, stored or deflated, with or without zip64 sizes.
import {readFileSync} from 'node:fs';
import {inflateRawSync} from 'node:zlib';

import {parseNpy} from './npy.mjs';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const WIDE_END_OF_DIRECTORY = 0x06064b50;
const WIDE = 0xffffffff;

function findDirectory(file, name) {
  for (let at = file.length - 22; at >= Math.max(0, file.length - 65557); --at) {
    if (file.readUInt32LE(at) !== END_OF_DIRECTORY) continue;
    const directory = {count: file.readUInt16LE(at + 10), offset: file.readUInt32LE(at + 16)};
    if (directory.offset !== WIDE && directory.count !== 0xffff) return directory;
    const wide = Number(file.readBigUInt64LE(at - 20 + 8));
    if (file.readUInt32LE(wide) !== WIDE_END_OF_DIRECTORY) break;
    return {count: Number(file.readBigUInt64LE(wide + 32)),
            offset: Number(file.readBigUInt64LE(wide + 48))};
  }
  throw new Error(`${name}: not a zip archive`);
}

// Sizes and offset that do not fit 32 bits stand in extra field 1, in this order.
function widen(entry, extra) {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let next = at + 4;
    for (const key of ['size', 'packed', 'offset']) {
      if (entry[key] !== WIDE) continue;
      entry[key] = Number(extra.readBigUInt64LE(next));
      next += 8;
    }
  }
  return entry;
}

function* entries(file, name) {
  let {count, offset: at} = findDirectory(file, name);
  for (; count > 0; --count) {
    if (file.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error(`${name}: damaged directory`);
    const [nameSize, extraSize, commentSize] = [28, 30, 32].map((o) => file.readUInt16LE(at + o));
    const extra = at + 46 + nameSize;
    yield widen({
      name: file.toString('utf8', at + 46, extra),
      method: file.readUInt16LE(at + 10),
      packed: file.readUInt32LE(at + 20),
      size: file.readUInt32LE(at + 24),
      offset: file.readUInt32LE(at + 42),
    }, file.subarray(extra, extra + extraSize));
    at = extra + extraSize + commentSize;
  }
}

function unpack(file, entry) {
  const start = entry.offset + 30 + file.readUInt16LE(entry.offset + 26) +
      file.readUInt16LE(entry.offset + 28);
  const packed = file.subarray(start, start + entry.packed);
  if (entry.method === 0) return packed;
  if (entry.method === 8) return inflateRawSync(packed);
  throw new Error(`${entry.name}: zip method ${entry.method} is not read`);
}

// Map of array name -> {dtype, shape, data}, in the order of the archive.
export function readNpz(path) {
  const file = readFileSync(path);
  const arrays = new Map();
  for (const entry of entries(file, path)) {
    const key = entry.name.replace(/\.npy$/, '');
    arrays.set(key, parseNpy(unpack(file, entry), `${path}: ${entry.name}`));
  }
  return arrays;
}

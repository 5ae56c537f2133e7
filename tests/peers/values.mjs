// SPDX-License-Identifier: Apache-2.0
// A folder of values as `octavo run` writes it: one .npy per value and an index.json that lists
// {name, file, dtype, scale, zero_point, axis}.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {formatNpy, parseNpy} from './npy.mjs';

// File names of values: characters outside A-Z a-z 0-9 . _ - become _, 120 of them are kept, and
// where two values would meet the later ones get -2, -3.
export function fileNames(names) {
  const taken = new Set();
  return names.map((name) => {
    const plain = name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 120);
    let unique = plain;
    for (let number = 2; taken.has(unique); ++number) unique = `${plain}-${number}`;
    taken.add(unique);
    return `${unique}.npy`;
  });
}

// `values`: Map of name -> {dtype, shape, data}; quantization is not known to a peer, so null.
export function writeValues(folder, values) {
  mkdirSync(folder, {recursive: true});
  const files = fileNames([...values.keys()]);
  const index = [...values].map(([name, array], i) => {
    writeFileSync(join(folder, files[i]), formatNpy(array));
    return {name, file: files[i], dtype: array.dtype, scale: null, zero_point: null, axis: null};
  });
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index, null, 1) + '\n');
}

// Map of name -> {dtype, shape, data, scale, zero_point, axis}.
export function readValues(folder) {
  const path = join(folder, 'index.json');
  const index = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(index)) throw new Error(`${path}: must be a list of values`);
  return new Map(index.map((entry) => {
    const array = parseNpy(readFileSync(join(folder, entry.file)), entry.file);
    return [entry.name, {...entry, ...array}];
  }));
}

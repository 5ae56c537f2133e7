// SPDX-License-Identifier: Apache-2.0
// Compares two folders of values, value by value.
import {compareArrays, equalClasses} from './compare.mjs';
import {readValues} from './values.mjs';

// Scales of the outputs as a report of `octavo optimize` lists them.
export function scalesOfReport(report) {
  return new Map(report.numerics.outputs.map(({name, scale}) => [name, scale]));
}

// One row per value that both folders hold.
export function compareFolders(folder, expectedFolder, scales = new Map()) {
  const [values, expectations] = [readValues(folder), readValues(expectedFolder)];
  const common = [...values.keys()].filter((name) => expectations.has(name));
  if (common.length === 0) {
    throw new Error(`${folder} and ${expectedFolder} have no value in common`);
  }
  return common.map((name) => {
    const [value, expected] = [values.get(name), expectations.get(name)];
    const scale = scales.get(name) ?? value.scale ?? expected.scale;
    const axis = value.axis ?? expected.axis;
    const row = compareArrays({...value, scale, axis}, expected);
    return {name, ...row, same_class: equalClasses(value, expected), rows: value.shape[0] ?? 1};
  });
}

// The same, where `folder` must hold every value of `expectedFolder`.
export function compareAll(folder, expectedFolder, scales) {
  const held = readValues(folder);
  for (const name of readValues(expectedFolder).keys()) {
    if (!held.has(name)) throw new Error(`${folder} lacks value '${name}'`);
  }
  return compareFolders(folder, expectedFolder, scales);
}

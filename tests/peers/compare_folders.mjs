// Compares two folders of values, value by value.
import {compareArrays, equalClasses} from './compare.mjs';
import {readValues} from './values.mjs';

// Scales of the outputs as a report of `octavo optimize` lists them.
export function scalesOfReport(report) {
  return new Map(report.numerics.outputs.map(({name, scale}) => [name, scale]));
}

// One row per value that both folders hold.
export function compareFolders(folder, referenceFolder, scales = new Map()) {
  const [values, references] = [readValues(folder), readValues(referenceFolder)];
  const common = [...values.keys()].filter((name) => references.has(name));
  if (common.length === 0) {
    throw new Error(`${folder} and ${referenceFolder} have no value in common`);
  }
  return common.map((name) => {
    const [value, reference] = [values.get(name), references.get(name)];
    const scale = scales.get(name) ?? value.scale ?? reference.scale;
    const axis = value.axis ?? reference.axis;
    const row = compareArrays({...value, scale, axis}, reference);
    return {name, ...row, same_class: equalClasses(value, reference), rows: value.shape[0] ?? 1};
  });
}

// The same, where `folder` must hold every value of `referenceFolder`.
export function compareAll(folder, referenceFolder, scales) {
  const held = readValues(folder);
  for (const name of readValues(referenceFolder).keys()) {
    if (!held.has(name)) throw new Error(`${folder} lacks value '${name}'`);
  }
  return compareFolders(folder, referenceFolder, scales);
}

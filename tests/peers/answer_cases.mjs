#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Lets ONNX Runtime answer cases in the form of ONNX's test data: writes output_K.npy next to
// input_K.npy of each.
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {formatNpy, parseNpy} from './npy.mjs';
import {openModel, runFeed} from './onnx_runtime.mjs';

async function answer(folder) {
  const session = await openModel(join(folder, 'model.onnx'));
  const samples = join(folder, 'test_data_set_0');
  const feed = {};
  session.inputNames.forEach((name, k) => {
    const path = join(samples, `input_${k}.npy`);
    feed[name] = parseNpy(readFileSync(path), path);
  });
  [...(await runFeed(session, feed)).values()].forEach((array, k) => {
    writeFileSync(join(samples, `output_${k}.npy`), formatNpy(array));
  });
}

async function main() {
  if (process.argv.length !== 3) {
    console.error('usage: answer_cases.mjs DIR');
    process.exit(2);
  }
  const cases = join(process.argv[2], 'node');
  for (const name of readdirSync(cases).sort()) {
    const folder = join(cases, name);
    if (existsSync(join(folder, 'model.onnx'))) await answer(folder);
  }
}

main().catch((error) => {
  console.error(`answer_cases: error: ${error.message}`);
  process.exit(1);
});

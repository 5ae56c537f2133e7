#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime reads a model with external weights and gives the same results as for that model in
// one file: external_data.mjs WORK_FOLDER
import {existsSync, mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {readNpz} from './npz.mjs';
import {Octavo} from './octavo.mjs';
import {openModel, runSamples} from './onnx_runtime.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIGITS = join(ROOT, 'tests/data/digits');

async function main() {
  const work = process.argv[2];
  if (!work) throw new Error('needs a folder to work in');
  mkdirSync(work, {recursive: true});
  const octavo = new Octavo(process.env.OCTAVO ?? join(ROOT, 'build/release/client/octavo'));
  const samples = readNpz(join(DIGITS, 'heldout.npz'));
  const given = [];
  for (const [name, flags] of [['whole', []], ['external', ['--external-over', '0']]]) {
    const model = join(work, `${name}.onnx`);
    octavo.optimize(join(DIGITS, 'model.onnx'), join(DIGITS, 'calibration.npz'), model,
                    join(work, `${name}.json`), ...flags);
    if (existsSync(`${model}.data`) !== (name === 'external')) {
      throw new Error(`${model}.data should${name === 'external' ? '' : ' not'} be there`);
    }
    given.push(await runSamples(await openModel(model), samples, {batch: 1}));
  }
  const [whole, external] = given;
  for (const [name, {data}] of whole) {
    const other = external.get(name).data;
    const apart = data.findIndex((value, i) => value !== other[i]);
    if (data.length === 0 || data.length !== other.length || apart >= 0) {
      throw new Error(`output '${name}' differs at element ${apart}`);
    }
    console.log(`external data: ${data.length} elements of '${name}' equal`);
  }
}

main().catch((error) => {
  console.error(`external_data: error: ${error.message}`);
  process.exit(1);
});

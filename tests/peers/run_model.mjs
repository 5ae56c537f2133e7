#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Runs a model in ONNX Runtime on samples and writes every output as .npy, with an index.json.
import {parseArgs} from 'node:util';

import {readNpz} from './npz.mjs';
import {openModel, runSamples} from './onnx_runtime.mjs';
import {writeValues} from './values.mjs';

const USAGE = 'usage: run_model.mjs MODEL.onnx SAMPLES.npz --out DIR [--optimizations all|none]\n' +
    '           [--double-qdq-remover 0|1] [--values a,b,c] [--batch N]';

async function main() {
  const {values: options, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      out: {type: 'string'},
      optimizations: {type: 'string', default: 'all'},
      'double-qdq-remover': {type: 'string', default: '1'},
      values: {type: 'string', default: ''},
      batch: {type: 'string', default: '1'},
    },
  });
  if (positionals.length !== 2 || !options.out) {
    console.error(USAGE);
    process.exit(2);
  }
  const [model, samples] = positionals;
  const session = await openModel(model, {
    optimizations: options.optimizations,
    doubleQdqRemover: options['double-qdq-remover'] !== '0',
    values: options.values.split(',').filter(Boolean),
  });
  const outputs = await runSamples(session, readNpz(samples), {batch: Number(options.batch)});
  writeValues(options.out, outputs);
  for (const [name, {dtype, shape}] of outputs) console.log(`${name}: ${dtype} [${shape}]`);
}

main().catch((error) => {
  console.error(`run_model: error: ${error.message}`);
  process.exit(1);
});

#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Compares one exported QDQ model with ONNX Runtime operator by operator.
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {ROOT} from './models.mjs';
import {compareNodes, nodesTable} from './nodes.mjs';
import {Octavo} from './octavo.mjs';

const USAGE = 'usage: node_by_node.mjs MODEL.onnx SAMPLES.npz [--octavo BINARY] [--samples N]\n' +
    '           [--work DIR] [--verbose]';

function printRow(number, row) {
  console.log(`${number}: ${row.kind} '${row.node}': ${row.count - row.equal} of ${row.count} ` +
              'differ');
}

async function main() {
  const {values: options, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
      samples: {type: 'string', default: '2'},
      work: {type: 'string'},
      verbose: {type: 'boolean'},
    },
  });
  if (positionals.length !== 2) {
    console.error(USAGE);
    process.exit(2);
  }
  const work = options.work ?? mkdtempSync(join(tmpdir(), 'octavo-nodes-'));
  mkdirSync(work, {recursive: true});
  try {
    const {rows, failures} = await compareNodes(new Octavo(options.octavo), ...positionals, {
      count: Number(options.samples), work, onRow: options.verbose ? printRow : undefined});
    console.log(nodesTable(rows));
    for (const failure of failures) console.error(`FAILED ${failure}`);
    process.exitCode = failures.length ? 1 : 0;
  } finally {
    if (!options.work) rmSync(work, {recursive: true});
  }
}

main().catch((error) => {
  console.error(`node_by_node: error: ${error.message}`);
  process.exit(1);
});

#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures what options gain: prints a Markdown table of output SQNR, of classes that change, and of
// seconds, and fails where the default options miss a floor or the report has another figure.
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

import {table} from '../../peers/figures.mjs';
import {listModels, ROOT, SHARED} from '../../peers/models.mjs';
import {Octavo} from '../../peers/octavo.mjs';
import {measure, prepare} from './measure.mjs';

const USAGE = 'usage: accuracy.mjs [--octavo BINARY] [--models a,b] [--options name,name]\n' +
    '           [--shared DIR] [--json FILE] [--check]';

const OPTIONS = {
  'nearest': ['--rounding', 'nearest'],
  'bias': ['--rounding', 'bias'],
  'default': [],
  'mse': ['--calibration', 'mse'],
  'equalize-off': ['--equalize', 'off'],
  'equalize': ['--equalize', 'on'],
  'search': ['--search'],
  'i16': ['--activations', 'i16'],
  'integer-outputs': ['--no-float-outputs'],
};

// Least output SQNR by options, in dB: a little less than was measured.
const FLOORS = {
  'default': {digits: 36.8, mnist_cntk: 42, squeezenet_products: 24, superres_224: 51},
};

// Between the report's figure and ONNX Runtime's, in dB.  Where float operators stand between integer
// ones (magika), the two round a few integers differently, which moves the figure by up to 0.5.
const REPORT_TOLERANCE = 0.6;

const figure = (row) => row.sqnr_db === Infinity ? 'exact' : row.sqnr_db.toFixed(1);

function parse() {
  const {values} = parseArgs({
    options: {
      octavo: {type: 'string', default: join(ROOT, 'build/release/client/octavo')},
      models: {type: 'string'},
      options: {type: 'string'},
      shared: {type: 'string', default: SHARED},
      json: {type: 'string'},
      check: {type: 'boolean'},  // models and options that have a floor
      help: {type: 'boolean'},
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  return values;
}

function chosenOptions(names) {
  if (!names) return OPTIONS;
  return Object.fromEntries(names.split(',').map((name) => {
    if (!OPTIONS[name]) throw new Error(`no options '${name}'; there are ${Object.keys(OPTIONS)}`);
    return [name, OPTIONS[name]];
  }));
}

async function main() {
  const values = parse();
  const options = chosenOptions(values.check ? Object.keys(FLOORS).join() : values.options);
  const octavo = new Octavo(values.octavo);
  const work = mkdtempSync(join(tmpdir(), 'octavo-accuracy-'));
  const rows = [];
  const missed = [];
  try {
    if (!existsSync(values.shared)) {
      console.log(`no models in ${values.shared}: the repository's own only\n`);
    }
    const models = listModels(values.shared, values.models?.split(','))
                       .filter(({name}) => !values.check ||
                               Object.values(FLOORS).some((floors) => name in floors));
    for (const model of models) {
      const prepared = await prepare(model, join(work, model.name));
      const row = {name: model.name, by: {}};
      for (const [name, list] of Object.entries(options)) {
        const {sqnr_db, reported_db} = row.by[name] = await measure(octavo, prepared, list);
        if (!(sqnr_db === reported_db || Math.abs(sqnr_db - reported_db) < REPORT_TOLERANCE)) {
          missed.push(`${model.name}, ${name}: ${sqnr_db.toFixed(2)} dB in ONNX Runtime, but ` +
                      `${reported_db.toFixed(2)} dB in the report`);
        }
      }
      rows.push(row);
      for (const [name, {sqnr_db}] of Object.entries(row.by)) {
        const floor = FLOORS[name]?.[model.name];
        if (floor === undefined || sqnr_db >= floor) continue;
        missed.push(`${model.name}, ${name}: ${sqnr_db.toFixed(1)} dB, at least ${floor} must be`);
      }
    }
    const columns = {'model': (r) => r.name};
    for (const name of Object.keys(options)) columns[name] = (r) => figure(r.by[name]);
    const last = Object.keys(options).includes('default') ? 'default' : Object.keys(options)[0];
    columns['classes changed'] = (r) => r.by[last].classes?.changed ?? '';
    columns['right less'] = (r) => r.by[last].classes?.lost ?? '';
    columns['seconds'] = (r) => r.by[last].seconds.toFixed(2);
    console.log(table(columns, rows));
    if (values.json) writeFileSync(values.json, JSON.stringify(rows, null, 1) + '\n');
    for (const text of missed) console.error(`FAILED ${text}`);
    process.exitCode = missed.length ? 1 : 0;
  } finally {
    rmSync(work, {recursive: true});
  }
}

main().catch((error) => {
  console.error(`accuracy: error: ${error.message}`);
  process.exit(1);
});

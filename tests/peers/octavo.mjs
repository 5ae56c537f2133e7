// SPDX-License-Identifier: Apache-2.0
// Runs the `octavo` command line, as interfaces has it.
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';

export class Octavo {
  // `server`: HOST:PORT for `optimize`, or undefined for the same in-process.
  constructor(binary, server) {
    if (!existsSync(binary)) throw new Error(`${binary} does not exist; build it or give --octavo`);
    this.binary = binary;
    this.server = server;
  }

  call(...args) {
    const began = process.hrtime.bigint();
    const result = spawnSync(this.binary, args, {encoding: 'utf8', maxBuffer: 1 << 28,
                                                 stdio: ['ignore', 'pipe', 'pipe']});
    if (result.error) throw result.error;
    if (result.status !== 0) {
      const said = result.stderr.trim().split('\n').slice(-3).join(' | ');
      const how = result.signal ? `signal ${result.signal}` : `exit ${result.status}`;
      throw new Error(`octavo ${args[0]} ended with ${how}: ${said}`);
    }
    return {seconds: Number(process.hrtime.bigint() - began) / 1e9, stdout: result.stdout};
  }

  // Gives {report, seconds}.
  optimize(model, samples, out, reportPath, ...more) {
    const remote = this.server ? ['--server', this.server] : [];
    const {seconds} = this.call('optimize', model, '--data', samples, '-o', out, '--report',
                                reportPath, '--deterministic', '--quiet', ...remote, ...more);
    return {report: JSON.parse(readFileSync(reportPath, 'utf8')), seconds};
  }

  run(model, samples, folder, ...more) {
    return this.call('run', model, '--data', samples, '-o', folder, ...more);
  }
}

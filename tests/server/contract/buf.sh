# SPDX-License-Identifier: Apache-2.0
# Sourced: sets `buf` to the program of the npm package, or ends the test as skipped (77).  The
# package of a platform holds the binary and needs no install script.
here=$(cd "$(dirname "$0")" && pwd)
proto=$here/../../../proto
buf=$here/node_modules/@bufbuild/buf-linux-x64/bin/buf
if [ ! -x "$buf" ]; then
  echo "skipped: buf is not installed; run 'npm ci --ignore-scripts' in tests/server/contract"
  exit 77
fi

#!/bin/sh
# Lints proto/ by proto/buf.yaml.  The binary is in the npm package of its platform, which needs
# no install script:  npm ci --ignore-scripts  in this folder.  Exit 77 without it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
buf=$here/node_modules/@bufbuild/buf-linux-x64/bin/buf
if [ ! -x "$buf" ]; then
  echo "lint.sh: buf is not there; run: npm ci --ignore-scripts in tests/server/contract"
  exit 77
fi
cd "$here/../../../proto"
exec "$buf" lint

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# breaking.sh's settings refuse a field that is removed, renumbered or of another type, and accept
# one that is added.
set -eu
. "$(dirname "$0")/buf.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Fails unless the comparison ends as expected: accepts|refuses SED-SCRIPT.
expect() {
  rm -rf "$work/proto"
  cp -r "$proto" "$work/proto"
  sed -i "$2" "$work/proto/octavo/v1/options.proto"
  if cmp -s "$proto/octavo/v1/options.proto" "$work/proto/octavo/v1/options.proto"; then
    echo "FAILED: '$2' changes nothing"
    exit 1
  fi
  ended=accepts
  (cd "$work/proto" && "$buf" breaking --against "$here/octavo_v1.binpb") >"$work/said" 2>&1 ||
    ended=refuses
  if [ $ended != "$1" ]; then
    echo "FAILED: '$2': breaking.sh $ended it"
    cat "$work/said"
    exit 1
  fi
}

expect accepts 's/^  string target = 1;/  string target = 1;\n  string added = 999;/'
expect refuses '/^  string target = 1;/d'
expect refuses 's/^  string target = 1;/  string target = 998;/'
expect refuses 's/^  string target = 1;/  int64 target = 1;/'
echo "1 accepted, 3 refused"

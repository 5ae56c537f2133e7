#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the protos keep what clients of the last contract rely on (buf's category FILE).
#
#   breaking.sh            compares proto/ with octavo_v1.binpb, the last contract
#   breaking.sh --update   writes octavo_v1.binpb, after a change that passed and is released
set -eu
. "$(dirname "$0")/buf.sh"
cd "$proto"
if [ "${1-}" = --update ]; then
  exec "$buf" build --exclude-source-info -o "$here/octavo_v1.binpb"
fi
exec "$buf" breaking --against "$here/octavo_v1.binpb"

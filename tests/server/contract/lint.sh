#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lints the protos by proto/buf.yaml.
set -eu
. "$(dirname "$0")/buf.sh"
cd "$proto"
exec "$buf" lint

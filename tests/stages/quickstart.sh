# SPDX-License-Identifier: Apache-2.0
# The quickstart as a newcomer runs it, on what the stage release has built.
. tests/stages/common.sh
for binary in server/octavod client/octavo; do
  [ -x "build/release/$binary" ] || skip "build/release/$binary is not built"
done
sh deploy/quickstart.sh "$OCTAVO_RESULTS/quickstart"

# Real models through Octavo and ONNX Runtime, compared step by step.
. tests/stages/common.sh
octavo=build/release/client/octavo
[ -x $octavo ] || skip "$octavo is not built"
cd tests/peers
# npm notes in this file what it installed.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --ignore-scripts --no-audit --no-fund
fi
node models_table.mjs

# Real models through Octavo and ONNX Runtime, compared step by step, then small ones operator by
# operator; then operators that ONNX's own test data lack, with ONNX Runtime's answers.
. tests/stages/common.sh
[ -x build/release/client/octavo ] || skip "build/release/client/octavo is not built"
cd tests/peers
# npm notes in this file what it installed.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --ignore-scripts --no-audit --no-fund
fi
work=$OCTAVO_RESULTS/models
node models_table.mjs --work "$work"
node agreement.mjs --small --samples 4
node ocr.mjs
node foreign.mjs
node external_data.mjs "$OCTAVO_RESULTS/external"
cases=$OCTAVO_RESULTS/cases
/usr/bin/python3 -B newer_cases.py "$cases"
node answer_cases.mjs "$cases"
../../build/release/tests/peers/onnx_data/onnx_data_judge --data "$cases"

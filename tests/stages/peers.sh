# SPDX-License-Identifier: Apache-2.0
# Real models through Octavo and ONNX Runtime, compared step by step, then small ones operator by
# operator; the runtime's quirks, what it runs of nodes that stay float, tables that are gathered by
# rows, and random models with its default session options; then operators that ONNX's own test data
# lack, with ONNX Runtime's answers.
. tests/stages/common.sh
[ -x build/release/client/octavo ] || skip "build/release/client/octavo is not built"
install_npm tests/peers
cd tests/peers
work=$OCTAVO_RESULTS/models
node models_table.mjs --work "$work"
node ../bench/accuracy/accuracy.mjs --check
node agreement.mjs --small --samples 4
node ocr.mjs
node foreign.mjs
node external_data.mjs "$OCTAVO_RESULTS/external"
node quirks.mjs
node requantized.mjs
node four_bits.mjs
node int16.mjs
node tables.mjs
# ctest runs the same without ONNX Runtime.
OCTAVO=$PWD/../../build/release/client/octavo OCTAVOD=$PWD/../../build/release/server/octavod \
  /usr/bin/python3 -B ../e2e/open_sizes_test.py -k two_
node opaque.mjs
node random.mjs --seed 12 --count 40
cases=$OCTAVO_RESULTS/cases
/usr/bin/python3 -B newer_cases.py "$cases"
node answer_cases.mjs "$cases"
../../build/release/tests/peers/onnx_data/onnx_data_judge --data "$cases"

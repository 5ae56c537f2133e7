# SPDX-License-Identifier: Apache-2.0
# The protos by buf: lint, and comparison with the last contract.  buf is an npm package.
. tests/stages/common.sh
[ -f build/release/CTestTestfile.cmake ] || skip "build/release is not configured"
install_npm tests/server/contract
run_tests release contract -L '^contract$'

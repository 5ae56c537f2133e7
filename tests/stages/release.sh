# SPDX-License-Identifier: Apache-2.0
# The optimized build and every test of it.
. tests/stages/common.sh
build release
# The wire contract, which needs a download, and the faults have stages of their own.
run_tests release release -LE '^(contract|faults)$'

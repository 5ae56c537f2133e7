# SPDX-License-Identifier: Apache-2.0
# The optimized build and every test of it.
. tests/stages/common.sh
build release
# The wire contract needs a download and has a stage of its own.
run_tests release release -LE '^contract$'

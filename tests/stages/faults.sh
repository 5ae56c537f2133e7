# SPDX-License-Identifier: Apache-2.0
# The service when something goes wrong around it; its figures are printed: tests/faults/README.md.
. tests/stages/common.sh
build release
run_tests release faults -L faults --verbose

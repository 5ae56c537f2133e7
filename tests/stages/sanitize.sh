# SPDX-License-Identifier: Apache-2.0
# Core and its tests under AddressSanitizer and UndefinedBehaviorSanitizer, and octavo, octavod and
# octavo-worker with them (tests/e2e/sanitized.cmake); the fuzz targets, which are built so as well,
# have a stage of their own.
. tests/stages/common.sh
build asan-ubsan
# What is not C++ has been checked by the stage release.  Each kernel of each mode runs in tests of its
# own as well as in every_claim_holds_in_every_mode, which takes minutes here.
run_tests asan-ubsan sanitize -LE 'lint|data|peers|fuzz|faults' -E 'browser|every_claim_holds_in_every_mode'

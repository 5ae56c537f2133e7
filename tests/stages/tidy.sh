# SPDX-License-Identifier: Apache-2.0
# clang-tidy on what a change touches.
sh tests/lint/tidy_changed.sh

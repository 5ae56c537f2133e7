#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the preset coverage, runs the tests and writes docs/coverage.md: lines that ran, by folder.
#
#   sh tests/coverage.sh             about half an hour on two cores
#   sh tests/coverage.sh --report    from the counts of the last run
set -eu
cd "$(dirname "$0")/.."
build=build/coverage
counts=$build/counts
jobs=${OCTAVO_JOBS:-$(nproc)}

if [ "${1-}" != --report ]; then
  cmake --preset coverage >/dev/null
  cmake --build --preset coverage -j "$jobs"
  rm -rf "$counts"
  mkdir -p "$counts"
  # Processes of one program add to one file (%m), four at a time.
  # What is not C++ or has a stage of its own adds no lines.
  LLVM_PROFILE_FILE=$PWD/$counts/%4m.profraw ctest --test-dir $build -j "$jobs" --output-on-failure \
    --no-tests=error -LE 'lint|data|bench|contract|image' >$build/ctest.log || {
    tail -n 40 $build/ctest.log
    exit 1
  }
  llvm-profdata-14 merge -sparse "$counts"/*.profraw -o "$counts/all.profdata"
fi

# Every program of the build; the first one has no -object before it.
set --
for program in $(find $build -type f -perm -u+x ! -name '*.so*' ! -path '*/CMakeFiles/*' | sort); do
  [ $# -gt 0 ] && set -- "$@" -object "$program" || set -- "$program"
done
llvm-cov-14 export -summary-only -instr-profile="$counts/all.profdata" "$@" 2>$build/cov.log |
  python3 -B tests/coverage_page.py "$(git rev-parse --short HEAD)" >docs/coverage.md
tail -n +1 docs/coverage.md

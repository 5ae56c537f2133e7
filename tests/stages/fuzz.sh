# SPDX-License-Identifier: Apache-2.0
# The fuzz targets, from seeds, a minute each; less where OCTAVO_MINUTES leaves less, and that is said.
. tests/stages/common.sh
targets=$(ls tests/fuzz/fuzz_*.cc | wc -l)
seconds=60
if [ -n "${OCTAVO_SECONDS_LEFT-}" ]; then
  # Two minutes are kept for building.
  seconds=$(((OCTAVO_SECONDS_LEFT - 120) * OCTAVO_JOBS / (targets + OCTAVO_JOBS)))
  [ $seconds -le 60 ] || seconds=60
  [ $seconds -ge 5 ] || skip "no time is left for $targets fuzz targets"
fi
echo "-- $targets fuzz targets, $seconds s each"
[ $seconds -eq 60 ] || echo "-- of 60 s, as OCTAVO_MINUTES leaves no more"
cmake --preset asan-ubsan -DOCTAVO_FUZZ_SECONDS=$seconds >"$OCTAVO_RESULTS/configure-fuzz.log" 2>&1 ||
  { cat "$OCTAVO_RESULTS/configure-fuzz.log"; exit 1; }
build asan-ubsan fuzz_seeds $(basename -s .cc -a tests/fuzz/fuzz_*.cc)
run_tests asan-ubsan fuzz -L fuzz

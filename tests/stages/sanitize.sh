# Core and its tests under AddressSanitizer and UndefinedBehaviorSanitizer, then short fuzzing.
# OCTAVO_FUZZ_SECONDS is the time of each fuzz target.
. tests/stages/common.sh
build asan-ubsan
# What is not C++ has been checked by the stage release.
run_tests asan-ubsan sanitize -LE 'lint|data|peers'

targets=$(find build/asan-ubsan/tests/fuzz -maxdepth 1 -type f -perm -u+x 2>/dev/null | sort)
if [ -z "$targets" ]; then
  echo "no fuzzing: there are no fuzz targets in build/asan-ubsan/tests/fuzz"
  exit 0
fi
echo "$targets" | xargs -P "$OCTAVO_JOBS" -n 1 sh -eu tests/stages/fuzz_one.sh

# SPDX-License-Identifier: Apache-2.0
# Job and server logic under ThreadSanitizer.  Without gRPC: Debian's is not instrumented, and
# ThreadSanitizer over it reports races that are none.
. tests/stages/common.sh

# Test programs with threads in them; those that this checkout does not have are left out.
wanted="base profile float_exec runtime job server_logic server_store"

build tsan help >"$OCTAVO_RESULTS/tsan-targets.log"
targets=
labels=
for name in $wanted; do
  if grep -q "^${name}_test:" "$OCTAVO_RESULTS/tsan-targets.log"; then
    targets="$targets ${name}_test"
    labels="$labels${labels:+|}$name"
  fi
done
echo "-- under ThreadSanitizer:$targets"
build tsan $targets
TSAN_OPTIONS="suppressions=$PWD/tests/stages/tsan_suppressions.txt ${TSAN_OPTIONS-}"
export TSAN_OPTIONS
# Goldens have labels of what they test, and programs of their own that are not built here.
run_tests tsan tsan -L "^($labels)\$" -LE golden

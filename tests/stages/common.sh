# SPDX-License-Identifier: Apache-2.0
# What the stages share; sourced with the repository as working directory.

# build PRESET [TARGET...]: configures and builds.
build() {
  preset=$1
  shift
  echo "-- cmake --preset $preset"
  cmake --preset "$preset" >"$OCTAVO_RESULTS/configure-$preset.log" 2>&1 || {
    cat "$OCTAVO_RESULTS/configure-$preset.log"
    return 1
  }
  [ $# -eq 0 ] || set -- --target "$@"
  cmake --build --preset "$preset" -j "$OCTAVO_JOBS" "$@"
}

# run_tests PRESET STAGE [CTEST OPTION...]: ctest, with its counts left for run.sh.
run_tests() {
  preset=$1
  stage=$2
  shift 2
  ctest --test-dir "build/$preset" -j "$OCTAVO_JOBS" --output-on-failure --no-tests=error \
    --output-junit "$OCTAVO_RESULTS/$stage.ctest.xml" "$@"
}

skip() {
  echo "skipped: $*"
  exit 77
}

# install_npm FOLDER: the packages of FOLDER's package-lock.json; npm notes in a file what it
# installed, so that this is quick where they are there.
install_npm() {
  if [ ! "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ]; then
    (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund)
  fi
}

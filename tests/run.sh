#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and tests everything, starting from bare Debian 12.
#
#   sh tests/run.sh                          install, release, quickstart, tidy, faults, sanitize,
#                                            tsan, fuzz, contract, peers
#   sh tests/run.sh --only release           one stage, or several: release,tidy
#   sh tests/run.sh --list                   names of the stages
#
# A stage is tests/stages/NAME.sh: exit 0 means passed, 77 skipped (its last line says why), any other
# failed.  Counts come from the JUnit files that ctest writes to $OCTAVO_RESULTS; a failed stage
# without a failed test counts as one.  The last line is the sum.
#
# OCTAVO_MINUTES limits the time of all stages together (default: no limit).  A stage that needs more
# than the remaining minutes is not started and counts as skipped; one that exceeds them is killed and
# counts as failed.
# OCTAVO_JOBS is the number of build and test processes (default: one per core).
set -u
exec </dev/null

all="install release quickstart tidy faults sanitize tsan fuzz contract peers image"
# The image is run by name: ctest of the stage release already builds and runs it.
# contract and peers come last, as they download from npm: where that fails, the others have run.
stages="install release quickstart tidy faults sanitize tsan fuzz contract peers"
no_time=78
passed=0
failed=0
skipped=0

usage() {
  echo "usage: sh tests/run.sh [--only STAGE[,STAGE...]] [--list]   stages: $all" >&2
  exit 2
}

parse() {
  while [ $# -gt 0 ]; do
    case $1 in
      --only) [ $# -ge 2 ] || usage; stages=$(echo "$2" | tr ',' ' '); shift ;;
      --only=*) stages=$(echo "${1#--only=}" | tr ',' ' ') ;;
      --list) echo "$all" | tr ' ' '\n'; exit 0 ;;
      *) usage ;;
    esac
    shift
  done
  for stage in $stages; do
    case " $all " in *" $stage "*) ;; *) echo "run.sh: no stage '$stage'" >&2; usage ;; esac
  done
}

# Attribute $2 of the <testsuite> of file $1.
count() {
  tr '\n\t' '  ' <"$1" | sed -n "s/.*<testsuite [^>]* $2=\"\([0-9]*\)\".*/\1/p"
}

# Adds the counts of stage $1, which ended with status $2.
add_counts() {
  before=$failed
  for file in "$OCTAVO_RESULTS/$1".*.xml; do
    [ -s "$file" ] || continue
    tests=$(count "$file" tests)
    bad=$(count "$file" failures)
    idle=$(($(count "$file" skipped) + $(count "$file" disabled)))
    # ctest counts a program that is not there as skipped.
    absent=$(grep -c '<skipped message="Unable to find executable' "$file")
    bad=$((bad + absent))
    idle=$((idle - absent))
    passed=$((passed + tests - bad - idle))
    failed=$((failed + bad))
    skipped=$((skipped + idle))
  done
  case $2 in
    0) ;;
    77 | $no_time) skipped=$((skipped + 1)) ;;
    *) [ "$failed" -gt "$before" ] || failed=$((failed + 1)) ;;
  esac
}

# Names the failed tests, as the output that says why may be far above or cut off.
name_failed() {
  for file in "$OCTAVO_RESULTS"/*.xml; do
    [ -s "$file" ] || continue
    stage=$(basename "$file")
    awk -v "stage=${stage%%.*}" '
      /<testcase name="/ { name = $0; sub(/.*<testcase name="/, "", name); sub(/".*/, "", name) }
      /<failure|<skipped message="Unable to find executable/ {
        if (!found++) printf "\nfailed in the stage %s:\n", stage
        if (found <= 100) print "  " name
      }' "$file"
  done
}

# Prints the minutes that stage $1 takes on two slow cores with nothing built: a stage that is started
# in vain is killed and fails.  The fuzz targets need the libraries that the stage sanitize builds.
minutes_of() {
  case $1 in
    release) echo 52 ;;
    sanitize) echo 50 ;;
    tsan) echo 24 ;;
    fuzz) [ -f build/asan-ubsan/core/job/liboctavo_job.a ] && echo 7 || echo 24 ;;
    faults) echo 7 ;;
    peers) echo 9 ;;
    tidy) echo 5 ;;
    *) echo 1 ;;
  esac
}

# Runs stage $1 within the remaining time; returns $no_time if that is too short for it.
run_stage() {
  if [ -z "${OCTAVO_MINUTES-}" ]; then
    sh -eu "tests/stages/$1.sh"
    return
  fi
  left=$((began + OCTAVO_MINUTES * 60 - $(date +%s)))
  [ $left -ge $(($(minutes_of "$1") * 60)) ] || return $no_time
  OCTAVO_SECONDS_LEFT=$left
  export OCTAVO_SECONDS_LEFT
  timeout --kill-after=10 $left sh -eu "tests/stages/$1.sh"
}

run_stages() {
  began=$(date +%s)
  summary=
  for stage in $stages; do
    printf '\n== %s\n' "$stage"
    start=$(date +%s)
    run_stage "$stage"
    status=$?
    add_counts "$stage" $status
    case $status in
      0) word=passed ;;
      77) word=skipped ;;
      $no_time) word="skipped: needs $(minutes_of "$stage") minutes, fewer of $OCTAVO_MINUTES are left" ;;
      124 | 137) word="FAILED: killed after the $OCTAVO_MINUTES minutes of OCTAVO_MINUTES" ;;
      *) word="FAILED (exit $status)" ;;
    esac
    seconds=$(($(date +%s) - start))
    printf '== %s: %s, %d s\n' "$stage" "$word" "$seconds"
    summary="$summary$(printf '\n  %-10s %4d s  %s' "$stage" "$seconds" "$word")"
    if [ "$stage" = install ] && [ $status -ne 0 ]; then
      failed=$((failed + (failed == 0)))
      echo "the other stages need these packages: not run"
      break
    fi
  done
  for stage in $all; do
    case " $stages " in *" $stage "*) ;; *) echo "== $stage: not run; ask for it with --only" ;; esac
  done
  printf '\n== summary, %d s%s\n' $(($(date +%s) - began)) "$summary"
}

main() {
  parse "$@"
  cd "$(dirname "$0")/.." || exit 1
  OCTAVO_JOBS=${OCTAVO_JOBS:-$(nproc)}
  OCTAVO_RESULTS=$PWD/build/test-results
  CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
  export OCTAVO_JOBS OCTAVO_RESULTS CCACHE_MAXSIZE
  rm -rf "$OCTAVO_RESULTS"
  mkdir -p "$OCTAVO_RESULTS"
  run_stages
  name_failed
  line="$passed passed, $failed failed"
  [ $skipped -eq 0 ] || line="$line, $skipped skipped"
  echo "$line"
  [ $failed -eq 0 ]
}

# On one line, so that the shell has read all of this file before a stage can change it.
main "$@"; exit

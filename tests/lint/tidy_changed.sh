#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy on the C++ files changed since a base, those not committed included.
#
#   sh tests/lint/tidy_changed.sh [BASE]     BASE: by default where this branch left origin/main or
#                                            main, on main itself the commit before
#   sh tests/lint/tidy_changed.sh --all      every file, however long that takes (an hour)
#
# Skips where there is no commit to compare with (one commit was cloned, or none).
#
# Needs build/release as the stage release leaves it: its compile commands and generated headers.
# Takes at most OCTAVO_TIDY_SECONDS (180) and names the files that it did not come to; those do not
# fail.  Precompiled headers are left out, so that a missing #include shows.
set -eu
cd "$(dirname "$0")/../.."

build=build/release
commands=build/tidy

# One file, called by xargs below: FILE DEADLINE.
if [ "${1-}" = --one ]; then
  left=$(($3 - $(date +%s)))
  if [ $left -le 0 ]; then
    echo "not examined, time is up: $2"
    exit 0
  fi
  # Flags of GCC are nothing that clang's front end should stumble over.  The analyzer gives up on a
  # function after so many states, a tenth of its default, which loops over windows would use up.
  status=0
  said=$(timeout $left clang-tidy-14 --quiet -p $commands --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-error --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \
    --extra-arg=max-nodes=20000 "$2" 2>&1) || status=$?
  if [ $status -eq 124 ]; then
    echo "not finished, time is up: $2"
  elif [ $status -ne 0 ]; then
    echo "$said" | grep -v 'warnings\? generated\.$'
    echo "FAILED $2"
    exit 1
  fi
  exit 0
fi

git() {
  command git -c safe.directory='*' "$@"
}

find_base() {
  for branch in origin/main main; do
    base=$(git merge-base HEAD "$branch" 2>/dev/null) || continue
    [ "$base" = "$(git rev-parse HEAD)" ] || { echo "$base"; return; }
  done
  git rev-parse --verify --quiet HEAD~1 || true
}

# A header is examined through the source of the same name, else the first that includes it.
sources_of() {
  while read -r file; do
    case $file in
      *.cc) echo "$file" ;;
      *.h)
        source=${file%.h}.cc
        [ -f "$source" ] ||
          source=$(grep -rlF --include='*.cc' "#include \"$file\"" core server client tests | sort | head -n 1)
        [ -z "$source" ] || echo "$source"
        ;;
    esac
  done | sort -u | while read -r file; do
    if [ -f "$file" ] && grep -qF "/$file\"" $commands/compile_commands.json; then
      echo "$file"
    fi
  done
}

if ! command -v clang-tidy-14 >/dev/null; then
  echo "skipped: clang-tidy-14 is not installed"
  exit 77
fi
if [ ! -f $build/compile_commands.json ]; then
  echo "skipped: $build is not configured"
  exit 77
fi
mkdir -p $commands
sed -E 's/ -Winvalid-pch//g; s/ -include [^ ]*cmake_pch\.hxx//g' $build/compile_commands.json \
  >$commands/compile_commands.json

seconds=${OCTAVO_TIDY_SECONDS:-180}
if [ "${1-}" = --all ]; then
  files=$(find core server client tests -name '*.cc' | sources_of)
  seconds=100000
  said="files, all there are"
elif base=${1:-$(find_base)} && [ -n "$base" ]; then
  short=$(git rev-parse --short "$base")
  files=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sources_of)
  if [ -z "$files" ]; then
    echo "clang-tidy: no C++ source changed since $short"
    exit 0
  fi
  said="files changed since $short"
else
  echo "skipped: there is no commit to compare with; --all examines every file"
  exit 77
fi
echo "clang-tidy: $(echo "$files" | wc -l) $said; at most $seconds s"
deadline=$(($(date +%s) + seconds))
report=$commands/report.txt
status=0
echo "$files" |
  xargs -P "${OCTAVO_JOBS:-2}" -I '{}' sh tests/lint/tidy_changed.sh --one '{}' $deadline \
    >$report 2>&1 || status=$?
grep -v '^not examined' $report || true
echo "clang-tidy: $(grep -c '^FAILED' $report || true) with findings," \
  "$(grep -c '^not ' $report || true) not examined for lack of time"
exit $status

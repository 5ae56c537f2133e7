#!/bin/sh
# clang-tidy on the C++ files changed since a base, those not committed included.
#
#   sh tests/lint/tidy_changed.sh [BASE]
#
# BASE is by default where this branch left origin/main or main, on main itself the commit before.
# Needs build/release/compile_commands.json.  Takes at most OCTAVO_TIDY_SECONDS (180) and names the
# files that it did not come to; those do not fail.
set -eu
cd "$(dirname "$0")/../.."

build=build/release

# One file, called by xargs below: FILE DEADLINE.
if [ "${1-}" = --one ]; then
  left=$(($3 - $(date +%s)))
  if [ $left -le 0 ]; then
    echo "not examined, time is up: $2"
    exit 0
  fi
  # Flags of GCC are nothing that clang's front end should stumble over.
  status=0
  said=$(timeout $left clang-tidy-14 --quiet -p $build --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-error "$2" 2>&1) || status=$?
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

# A header is examined through the source of the same name.
sources_of() {
  while read -r file; do
    case $file in
      *.cc) echo "$file" ;;
      *.h) echo "${file%.h}.cc" ;;
    esac
  done | sort -u | while read -r file; do
    if [ -f "$file" ] && grep -qF "/$file\"" $build/compile_commands.json; then
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
base=${1:-$(find_base)}
if [ -z "$base" ]; then
  echo "skipped: this checkout has no commit to compare with"
  exit 77
fi
files=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sources_of)
if [ -z "$files" ]; then
  echo "clang-tidy: no C++ source changed since $(git rev-parse --short "$base")"
  exit 0
fi
seconds=${OCTAVO_TIDY_SECONDS:-180}
echo "clang-tidy: $(echo "$files" | wc -l) files changed since $(git rev-parse --short "$base")," \
  "at most $seconds s"
deadline=$(($(date +%s) + seconds))
echo "$files" | xargs -P "${OCTAVO_JOBS:-2}" -I '{}' sh tests/lint/tidy_changed.sh --one '{}' $deadline

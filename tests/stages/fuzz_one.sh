# Runs one fuzz target for a short while, beginning with its corpus in tests/fuzz/corpus/NAME.
target=$1
name=$(basename "$target" | sed 's/_fuzz$//')
log=$OCTAVO_RESULTS/fuzz-$name.log
fresh=$OCTAVO_RESULTS/fuzz-$name
mkdir -p "$fresh"
set -- "$fresh"
[ ! -d "tests/fuzz/corpus/$name" ] || set -- "$fresh" "tests/fuzz/corpus/$name"
if "$target" -max_total_time="${OCTAVO_FUZZ_SECONDS:-20}" -timeout=10 -rss_limit_mb=2048 \
  -artifact_prefix="$OCTAVO_RESULTS/fuzz-$name-" "$@" >"$log" 2>&1; then
  echo "fuzz $name: $(tail -n 1 "$log")"
else
  tail -n 60 "$log"
  echo "fuzz $name: FAILED"
  exit 1
fi

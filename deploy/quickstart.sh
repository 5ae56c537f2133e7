#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to an int8 model: installs missing packages, builds, starts the service,
# quantizes a trained digit classifier with real images, and prints the result.
#
#   sh deploy/quickstart.sh [FOLDER]        writes to FOLDER, by default ./out/quickstart
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-./out/quickstart}
digits=$root/tests/data/digits
octavo=$root/build/release/client/octavo
octavod=$root/build/release/server/octavod

server=
work=$(mktemp -d)

stop_server() {
  [ -n "$server" ] || return 0
  kill -TERM "$server" 2>/dev/null || true
  # It drains on SIGTERM; kill it if that takes longer than ten seconds.
  (
    nap=
    trap 'kill $nap; exit' TERM
    sleep 10 &
    nap=$!
    wait $nap && kill -KILL "$server"
  ) >/dev/null 2>&1 &
  watchdog=$!
  wait "$server" 2>/dev/null || true
  kill "$watchdog" 2>/dev/null || true
  server=
}
cleanup() {
  status=$?
  trap - EXIT
  stop_server
  rm -rf "$work"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() {
  printf '\n==> %s\n' "$*"
}
die() {
  echo "quickstart: $*" >&2
  exit 1
}

install() {
  say "packages"
  sh "$root/deploy/install_packages.sh" build run
}

build() {
  say "build (the first time takes some minutes)"
  # Keep the settings of an existing build folder.
  [ -f "$root/build/release/build.ninja" ] ||
    (cd "$root" && cmake --preset release -DOCTAVO_TESTS=OFF)
  cmake --build "$root/build/release" --target octavod octavo
}

# Sets `address` to the address of the service; the system chooses the port.
start_server() {
  say "service"
  "$octavod" --listen 127.0.0.1:0 --metrics 127.0.0.1:0 --port-file "$work/port" \
    >"$work/octavod.log" 2>&1 &
  server=$!
  tries=0
  until [ -s "$work/port" ]; do
    tries=$((tries + 1))
    if ! kill -0 "$server" 2>/dev/null || [ $tries -gt 150 ]; then
      sed 's/^/  /' "$work/octavod.log" >&2
      die "octavod did not start"
    fi
    sleep 0.2
  done
  address=$(head -n 1 "$work/port")
  "$octavo" health --server "$address"
}

optimize() {
  say "job: $digits/model.onnx with 64 real images to $address"
  "$octavo" optimize "$digits/model.onnx" --data "$digits/calibration.npz" \
    --server "$address" -o "$out/model.int8.onnx" \
    --report "$out/report.json" --html "$out/report.html"
}

# Runs both models on images that neither training nor calibration used.
compare() {
  say "1,000 held-out images through both models"
  "$octavo" diff "$digits/model.onnx" "$out/model.int8.onnx" --data "$digits/heldout.npz" \
    --labels "$digits/labels.npy" --report "$work/heldout.json"
}

show() {
  say "result"
  python3 "$root/deploy/summary.py" "$out/report.json"
  python3 "$root/deploy/summary.py" "$work/heldout.json" | grep '^top-'
  folder=$(cd "$out" && pwd)
  printf '%-20s %s\n' model "$folder/model.int8.onnx" report "$folder/report.json" \
    "report as a page" "$folder/report.html"
}

install
build
mkdir -p "$out"
start_server
optimize
compare
stop_server
show

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the image for real, without Docker, and checks its properties: it runs as 65532 on
# a read-only root with no capabilities, its own HEALTHCHECK passes, it answers a job, and its
# STOPSIGNAL ends it with status 0.
#
#   sh tests/image.sh [RELEASE_BUILD_FOLDER]      needs root, debootstrap and buildah; else skips
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/release}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/octavo
mirror=${OCTAVO_DEBIAN_MIRROR:-http://deb.debian.org/debian}
skipped=77

skip() {
  echo "image: skipped: $*"
  exit $skipped
}
fail() {
  echo "image: FAILED: $*" >&2
  [ ! -s "$work/octavod.log" ] || sed 's/^/  octavod: /' "$work/octavod.log" >&2
  exit 1
}
note() {
  echo "image: $*"
}

[ "$(id -u)" = 0 ] || skip "needs root for debootstrap and chroot"
for tool in buildah debootstrap unshare python3; do
  command -v $tool >/dev/null 2>&1 || skip "no $tool"
done
for binary in server/octavod server/octavo-worker client/octavo; do
  [ -x "$build/$binary" ] || skip "no $build/$binary"
done
unshare --mount true 2>/dev/null || skip "mount namespaces are not allowed here"

mkdir -p "$cache"
work=$(mktemp -d)
pid=
container=
cleanup() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  [ -z "$container" ] || storage rm "$container" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# buildah with a store of its own: nothing of the machine's is read or changed.
storage() {
  command=$1
  shift
  buildah --root "$cache/storage" --runroot "$work/run" --storage-driver vfs "$command" "$@"
}

make_base() {
  if storage inspect --type image localhost/octavo-base >/dev/null 2>&1; then
    note "base: cached in $cache"
    return
  fi
  note "base: debootstrap from $mirror"
  debootstrap --variant=minbase bookworm "$work/base" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    fail "debootstrap: $(tail -n 3 "$work/debootstrap.log")"
  # As debian:bookworm-slim: no package lists, no documentation, no device nodes.
  rm -rf "$work/base/var/cache/apt" "$work/base/var/lib/apt/lists" "$work/base/usr/share/doc" \
    "$work/base/usr/share/man" "$work/base/usr/share/locale" "$work/base/dev"
  mkdir -p "$work/base/dev" "$work/base/var/cache/apt/archives/partial" \
    "$work/base/var/lib/apt/lists/partial"
  base=$(storage from scratch)
  tar -C "$work/base" -cf "$work/base.tar" . && rm -rf "$work/base"
  storage add --quiet "$base" "$work/base.tar" / >/dev/null
  storage commit --quiet --format docker --rm "$base" localhost/octavo-base >/dev/null
  rm -f "$work/base.tar"
}

# The context holds what .dockerignore lets through, from whatever build folder was given.
make_context() {
  mkdir -p "$work/context/build/release/server" "$work/context/build/release/client" \
    "$work/context/deploy"
  cp "$root/Dockerfile" "$root/.dockerignore" "$work/context/"
  cp "$root/deploy/packages.txt" "$root/deploy/install_packages.sh" "$work/context/deploy/"
  cp "$build/server/octavod" "$build/server/octavo-worker" "$work/context/build/release/server/"
  cp "$build/client/octavo" "$work/context/build/release/client/"
}

build_image() {
  storage build --format docker --isolation chroot --pull=never --layers --quiet \
    --build-arg BASE=localhost/octavo-base --build-arg BINARIES=prebuilt \
    --build-arg REVISION=image-test --tag localhost/octavo-test "$work/context" \
    >"$work/build.log" 2>&1 || fail "buildah: $(tail -n 20 "$work/build.log")"
}

# Prints the field that the Go template $1 names of the image's configuration.
image_field() {
  storage inspect --type image --format "$1" localhost/octavo-test
}

expect_field() {
  actual=$(image_field "$1") || fail "buildah cannot show $1"
  [ "$actual" = "$2" ] || fail "$1 is '$actual', must be '$2'"
}

check_config() {
  expect_field '{{.Docker.Config.User}}' 65532:65532
  expect_field '{{.Docker.Config.StopSignal}}' SIGTERM
  # A shell form would show as [/bin/sh -c ...].
  expect_field '{{.Docker.Config.Entrypoint}}' '[/usr/local/bin/octavod]'
  expect_field '{{.Docker.Config.Healthcheck.Test}}' '[CMD /usr/local/bin/octavo health]'
  for label in title description version revision; do
    value=$(image_field "{{index .Docker.Config.Labels \"org.opencontainers.image.$label\"}}")
    [ -n "$value" ] || fail "label org.opencontainers.image.$label is missing"
  done
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Runs "$@" in the image as the image's user, with the image's environment and OCTAVO_* of this
# test over it: the whole root read-only, /proc and four devices mounted, no capabilities.
# It replaces the calling shell, so a signal to that one reaches the program.
enter() {
  exec unshare --mount --propagation private sh -eu -c '
    mount --bind "$1" "$1"
    mount -t tmpfs -o mode=755,size=64k none "$1/dev"
    for device in null zero random urandom; do
      touch "$1/dev/$device"
      mount --bind "/dev/$device" "$1/dev/$device"
    done
    mount -t proc -o ro none "$1/proc"
    mount -o remount,ro "$1/dev"
    mount -o remount,ro,bind "$1"
    rootfs=$1
    shift
    exec chroot "$rootfs" setpriv --reuid=65532 --regid=65532 --clear-groups \
      --no-new-privs --bounding-set=-all --inh-caps=-all -- env -i PATH=/usr/local/bin:/usr/bin:/bin OCTAVO_LISTEN="127.0.0.1:$port" \
      OCTAVO_METRICS="127.0.0.1:$metrics_port" OCTAVO_SERVER="127.0.0.1:$port" "$@"
  ' enter "$rootfs" "$@"
}

wait_healthy() {
  tries=0
  until (enter /usr/local/bin/octavo health) >"$work/health.log" 2>&1; do
    kill -0 "$pid" 2>/dev/null || fail "octavod ended while starting"
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail "HEALTHCHECK never passed: $(cat "$work/health.log")"
    sleep 0.2
  done
}

check_process() {
  uid=$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$pid/status")
  [ "$uid" = "65532 65532 65532 65532" ] || fail "octavod runs as $uid"
  for set in CapEff CapPrm CapBnd; do
    value=$(awk -v name="$set:" '$1 == name { print $2 }' "/proc/$pid/status")
    [ "$value" = 0000000000000000 ] || fail "octavod has $set $value"
  done
  if (enter /bin/sh -c ': >/tmp/file') 2>/dev/null; then
    fail "the root is writable"
  fi
}

run_job() {
  "$build/client/octavo" optimize "$root/tests/data/digits/model.onnx" \
    --data "$root/tests/data/digits/calibration.npz" -o "$work/int8.onnx" \
    --report "$work/report.json" --server "127.0.0.1:$port" --quiet ||
    fail "the job: exit $?"
  [ -s "$work/int8.onnx" ] || fail "the job left no model"
  python3 - "$work/report.json" <<'EOF' || fail "the report shows no int8 model"
import json, sys
report = json.load(open(sys.argv[1]))
model = report["model"]
sys.exit(not (model["bytes_after"] < model["bytes_before"] and report["numerics"]["outputs"]))
EOF
}

stop_server() {
  kill -TERM "$pid"
  status=0
  wait "$pid" || status=$?
  pid=
  [ $status = 0 ] || fail "octavod ended with $status after SIGTERM"
}

make_base
make_context
note "build: started"
build_image
check_config
note "build: done, configuration as specified"

container=$(storage from --pull=never localhost/octavo-test)
rootfs=$(storage mount "$container")
port=$(free_port)
metrics_port=$(free_port)
export port metrics_port

(enter /usr/local/bin/octavod) >"$work/octavod.log" 2>&1 &
pid=$!
wait_healthy
check_process
note "run: healthy as 65532 on a read-only root"
run_job
level=$(sed -n 's/.*"sandbox_level":\([0-9]\).*/\1/p' "$work/octavod.log" | head -n 1)
[ "${level:-0}" -ge 1 ] || fail "the log names no isolation of jobs"
note "run: answered a job in a worker of isolation level $level"
stop_server
note "passed"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of the given sections of packages.txt: build, run, test.
# Does not call apt if all of them are installed, so it is cheap to call before every step.
#
#   sh deploy/install_packages.sh build test
#   sh deploy/install_packages.sh --list build      # only prints the names
set -eu

list=$(dirname "$0")/packages.txt

usage() {
  echo "usage: install_packages.sh [--list] SECTION...   sections: $(sections)" >&2
  exit 2
}

sections() {
  sed -n 's/^# \([a-z]*\)$/\1/p' "$list" | tr '\n' ' '
}

# The lines of section $1 without comments: "PACKAGE" or "PACKAGE unless COMMAND".
section() {
  awk -v wanted="$1" '
    /^# [a-z]+$/ { inside = ($2 == wanted); next }
    inside && NF && !/^#/ { print }' "$list"
}

packages() {
  for name in "$@"; do
    section "$name"
  done | while read -r package word command; do
    if [ "$word" = unless ] && command -v "$command" >/dev/null 2>&1; then
      continue
    fi
    echo "$package"
  done | sort -u
}

missing() {
  # dpkg-query fails on an unknown name, but prints the others.
  present=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p') || true
  for package in "$@"; do
    echo "$present" | grep -qxF "$package" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    echo "install_packages.sh: need root or sudo to install:" $absent >&2
    exit 1
  fi
}

only_list=no
if [ "${1-}" = --list ]; then
  only_list=yes
  shift
fi
[ $# -gt 0 ] || usage
for name in "$@"; do
  [ -n "$(section "$name")" ] || usage
done

wanted=$(packages "$@")
if [ $only_list = yes ]; then
  echo "$wanted"
  exit 0
fi
# Names have no blanks: word splitting is intended.
absent=$(missing $wanted)
if [ -z "$absent" ]; then
  echo "packages: all $(echo "$wanted" | wc -l) of $* are installed"
  exit 0
fi
echo "packages: installing" $absent
as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends $absent </dev/null

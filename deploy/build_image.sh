#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the image from the source tree with buildah, podman or docker.
#
#   sh deploy/build_image.sh [TAG] [BUILD OPTION...]
#   sh deploy/build_image.sh octavo:dev --build-arg BINARIES=prebuilt   # takes build/release
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tag=octavo:latest
case ${1-} in
  '' | -*) ;;
  *) tag=$1 && shift ;;
esac

version=$(cat "$root/VERSION")
revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)

# The OCI format has no HEALTHCHECK: buildah and podman would drop it silently.
for builder in buildah podman docker; do
  command -v $builder >/dev/null 2>&1 || continue
  case $builder in
    docker) format= ;;
    *) format='--format docker' ;;
  esac
  # $format is one option or empty.  BINARIES repeats the Dockerfile's default: without it buildah
  # 1.28 skips the stage `build` as unused.
  exec $builder build $format --tag "$tag" --file "$root/Dockerfile" --build-arg BINARIES=build \
    --build-arg VERSION="$version" --build-arg REVISION="$revision" "$@" "$root"
done
echo "build_image.sh: needs buildah, podman or docker" >&2
exit 1

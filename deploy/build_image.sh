#!/bin/sh
# Builds the image from the source tree, all stages, with whichever builder is there.
#
#   sh deploy/build_image.sh [TAG] [BUILD OPTION...]
#   sh deploy/build_image.sh octavo:dev --build-arg BINARIES=prebuilt   # release binaries as built
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tag=octavo:latest
case ${1-} in
  '' | -*) ;;
  *) tag=$1 && shift ;;
esac

version=$(sed -n 's/^project(octavo VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)

# HEALTHCHECK is no part of the OCI format: buildah and podman would drop it silently.
for builder in buildah podman docker; do
  command -v $builder >/dev/null 2>&1 || continue
  case $builder in
    docker) format= ;;
    *) format='--format docker' ;;
  esac
  # $format is one option or none.  BINARIES again, although it is the Dockerfile's default: without
  # it buildah 1.28 takes the stage `build` for one that nothing needs.
  exec $builder build $format --tag "$tag" --file "$root/Dockerfile" --build-arg BINARIES=build \
    --build-arg VERSION="$version" --build-arg REVISION="$revision" "$@" "$root"
done
echo "build_image.sh: needs buildah, podman or docker" >&2
exit 1

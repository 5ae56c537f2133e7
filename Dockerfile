# SPDX-License-Identifier: Apache-2.0
# The service as an image.  `BINARIES=build` (the default) compiles from the source tree;
# `BINARIES=prebuilt` takes build/release/server/{octavod,octavo-worker} and
# build/release/client/octavo.
#
#   sh deploy/build_image.sh            # both kinds, with buildah, podman or docker
#   docker run --read-only --cap-drop ALL -p 50051:50051 -p 9464:9464 octavo
ARG BASE=debian:bookworm-slim
ARG BINARIES=build

FROM ${BASE} AS build
WORKDIR /src
COPY deploy/packages.txt deploy/install_packages.sh deploy/
RUN sh deploy/install_packages.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
ARG REVISION=
RUN cmake --preset release -DOCTAVO_TESTS=OFF -DOCTAVO_REVISION="${REVISION}" \
    && cmake --build --preset release --target octavod octavo

FROM scratch AS prebuilt
COPY build/release/server/octavod build/release/server/octavo-worker /src/build/release/server/
COPY build/release/client/octavo /src/build/release/client/octavo

FROM ${BINARIES} AS binaries

FROM ${BASE} AS runtime
# The files of the installer leave no trace: only the libraries that it installs stay.
COPY deploy/packages.txt deploy/install_packages.sh /tmp/deploy/
RUN sh /tmp/deploy/install_packages.sh run \
    && rm -rf /tmp/deploy /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
    && useradd --uid 65532 --user-group --no-create-home --home-dir /nonexistent \
       --shell /usr/sbin/nologin octavo
COPY --from=binaries /src/build/release/server/octavod /src/build/release/server/octavo-worker \
     /src/build/release/client/octavo /usr/local/bin/

ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="octavo" \
      org.opencontainers.image.description="Quantizes ONNX models to int8, over gRPC" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# OCTAVO_SERVER is for `octavo health` below.
ENV OCTAVO_LISTEN=0.0.0.0:50051 \
    OCTAVO_METRICS=0.0.0.0:9464 \
    OCTAVO_SERVER=127.0.0.1:50051
EXPOSE 50051 9464
USER 65532:65532
WORKDIR /
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
    CMD ["/usr/local/bin/octavo", "health"]
ENTRYPOINT ["/usr/local/bin/octavod"]

# The simulator in a container (docs/containers.md):
#   docker build -t entrupy-sim .                                      from source, in about thirteen minutes on two cores
#   docker build -t entrupy-sim --target released -f Dockerfile dist   from the packages of `make dist`, in seconds
#   docker run --rm -p 127.0.0.1:8642:8642 -v entrupy-sim:/data entrupy-sim
# With Podman: `podman build --format docker`, which keeps the health check. `--target test` builds and runs the tests instead.

# Everything but the program. Each stage has caches of its own: of two locked ones, Podman 4.3, Debian 12's, unlocks one
# (https://github.com/containers/buildah/issues/4342), and the next stage with the other would wait for ever.
FROM debian:bookworm-slim AS runtime
RUN --mount=type=cache,id=runtime-archives,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,id=runtime-lists,target=/var/lib/apt,sharing=locked \
    rm -f /etc/apt/apt.conf.d/docker-clean \
    && apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates libstdc++6 zlib1g \
    && groupadd --gid 10001 entrupy-sim \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin entrupy-sim \
    && install --directory --owner entrupy-sim --group root --mode 770 /data \
    && ln -s /opt/entrupy-sim/entrupy-sim /usr/local/bin/entrupy-sim \
    && ln -s /opt/entrupy-sim /usr/local/share/entrupy-sim
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
VOLUME /data
EXPOSE 8642
# Inside, it must listen on the container's own address, so the control API asks for a token, which is printed at the start
# (ENTRUPY_SIM_CONTROL_TOKEN gives it another). Published on 127.0.0.1 alone, it may do without: ENTRUPY_SIM_CONTROL_OPEN=1.
# URLs in answers begin with the address that was asked, whichever port is published. Temporary files are in the volume: SQLite
# makes some, and the root may be read-only.
ENV ENTRUPY_SIM_HOST=0.0.0.0 ENTRUPY_SIM_DATA_DIR=/data TMPDIR=/data
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${ENTRUPY_SIM_PORT:-8642} && printf 'GET /_sim/ready HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 2 line <&3 && [[ $line == *' 200 '* ]]"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["entrupy-sim"]
CMD ["serve"]

# The archive for this machine, from a folder with those of several: the context is dist/.
FROM debian:bookworm-slim AS unpacked
COPY entrupy-sim-*-linux-*.tar.gz /packages/
RUN machine=$(uname -m | sed s/aarch64/arm64/) \
    && set -- /packages/entrupy-sim-*-linux-"$machine".tar.gz \
    && { [ $# = 1 ] || { echo "dist/ holds $# archives for linux-$machine; one is used: empty it, and run \`make dist\`" >&2; exit 1; }; } \
    && { [ -e "$1" ] || { echo "dist/ has no archive for linux-$machine ($(cd /packages && ls -m entrupy-sim-*-linux-*.tar.gz 2>/dev/null || echo "none at all")); run \`make dist\` on such a machine" >&2; exit 1; }; } \
    && mkdir /entrupy-sim \
    && tar -xzf "$1" --strip-components=1 --no-same-owner -C /entrupy-sim

FROM runtime AS released
COPY --from=unpacked /entrupy-sim /opt/entrupy-sim

FROM swift:6.3-bookworm AS source
RUN --mount=type=cache,id=source-archives,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,id=source-lists,target=/var/lib/apt,sharing=locked \
    rm -f /etc/apt/apt.conf.d/docker-clean \
    && apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends binutils libsqlite3-dev libssl-dev make python3 zlib1g-dev
WORKDIR /entrupy-sim
# The packages first: they change seldom, and a layer keeps them. The versions are those of Package.resolved, if there is one.
COPY Package.swift Package.resolve[d] ./
RUN --mount=type=cache,target=/root/.cache,sharing=locked HTTPS=1 swift package resolve
COPY . .

FROM source AS test
RUN make test

FROM source AS build
RUN make dist \
    && mkdir /unpacked \
    && tar -xzf dist/entrupy-sim-*-linux-*.tar.gz --strip-components=1 --no-same-owner -C /unpacked

FROM runtime
COPY --from=build /unpacked /opt/entrupy-sim

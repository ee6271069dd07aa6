# The simulator in a container:
#   docker build -t entrupy-sim .
#   docker run --rm -p 127.0.0.1:8642:8642 -v entrupy-sim:/data entrupy-sim
# `--target test` builds and runs the tests instead.

FROM swift:6.3-bookworm AS source
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends binutils libsqlite3-dev make python3 zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /entrupy-sim
# The packages first: they change seldom, and a layer keeps them. The versions are those of Package.resolved, if there is one.
COPY Package.swift Package.resolve[d] ./
RUN swift package resolve
COPY . .

FROM source AS test
RUN make test

FROM source AS build
RUN make dist

FROM debian:bookworm-slim
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 entrupy-sim \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin entrupy-sim \
    && install --directory --owner entrupy-sim --group entrupy-sim /data
COPY --from=build /entrupy-sim/dist/entrupy-sim /usr/local/bin/entrupy-sim
COPY seed-data /usr/local/share/entrupy-sim/seed-data
COPY openapi /usr/local/share/entrupy-sim/openapi
COPY LICENSE NOTICE THIRD-PARTY-NOTICES /usr/local/share/doc/entrupy-sim/
USER entrupy-sim
VOLUME /data
EXPOSE 8642
# Inside, it must listen on the container's own address, so the control API asks for a token, which is printed at the start
# (ENTRUPY_SIM_CONTROL_TOKEN gives it another). Published on 127.0.0.1 alone, it may do without: ENTRUPY_SIM_CONTROL_OPEN=1.
ENV ENTRUPY_SIM_HOST=0.0.0.0 ENTRUPY_SIM_DATA_DIR=/data ENTRUPY_SIM_PUBLIC_URL=http://127.0.0.1:8642
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${ENTRUPY_SIM_PORT:-8642} && printf 'GET /_sim/ready HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 2 line <&3 && [[ $line == *' 200 '* ]]"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["entrupy-sim"]
CMD ["serve"]

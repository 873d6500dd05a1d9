# Two images of one source. What a plain build makes is the full one, the last.
#
#   docker build --target sidecar -t fairclock-sidecar .    collectors alone: no engine, data frames or PDF library
#   docker build --target full -t fairclock .               everything but vLLM
#
# Both run as user 1000 on a root file system that may be read-only: what they keep is under /var/lib/fairclock, and
# /tmp has to take a few files. Secrets are named by file (store.dsn_file, --token-file, secret_file); none is built in.
#
# Not built by the project's CI, which has no container engine: that its files are there and what its locks hold is
# tested, and so is the base installation that the sidecar is.

FROM python:3.12.12-slim-bookworm AS base
ENV PATH=/opt/fairclock/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/tmp \
    XDG_DATA_HOME=/var/lib
# The gateway's log lies in a volume that takes its owner from here: nginx and Fairclock run as the same user.
RUN useradd --uid 1000 --home-dir /var/lib/fairclock --shell /usr/sbin/nologin fairclock \
    && install -d -o fairclock -g fairclock /var/lib/fairclock /var/log/fairclock /srv/fairclock
WORKDIR /srv/fairclock


FROM base AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements/build.txt requirements/
RUN python -m venv /opt/build && /opt/build/bin/pip install --require-hashes -r requirements/build.txt
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY fairclock fairclock
COPY collectors collectors
COPY exporters exporters
COPY sla sla
COPY billing billing
COPY dashboards dashboards
COPY inference_probe inference_probe
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .


FROM build AS sidecar-environment
COPY requirements/sidecar.txt requirements/
RUN python -m venv /opt/fairclock \
    && /opt/fairclock/bin/pip install --require-hashes -r requirements/sidecar.txt \
    && /opt/fairclock/bin/pip install --no-deps --no-index /wheels/*.whl


FROM build AS full-environment
COPY requirements/runtime.txt requirements/
RUN python -m venv /opt/fairclock \
    && /opt/fairclock/bin/pip install --require-hashes -r requirements/runtime.txt \
    && /opt/fairclock/bin/pip install --no-deps --no-index /wheels/*.whl


FROM base AS sidecar
COPY --from=sidecar-environment /opt/fairclock /opt/fairclock
USER 1000:1000
VOLUME /var/lib/fairclock
EXPOSE 4317 4318
ENTRYPOINT ["fairclock"]
CMD ["collect", "--help"]


FROM base AS full
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        fontconfig fonts-noto-cjk fonts-noto-core libharfbuzz-subset0 libpango-1.0-0 libpangoft2-1.0-0 \
    && rm -rf /var/lib/apt/lists/* \
    && fc-cache --system-only
COPY --from=full-environment /opt/fairclock /opt/fairclock
USER 1000:1000
VOLUME /var/lib/fairclock
EXPOSE 4317 4318 8780
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8780/readyz', timeout=4)"]
ENTRYPOINT ["fairclock"]
CMD ["up", "--grpc", "0.0.0.0:4317", "--http", "0.0.0.0:4318", "--listen", "0.0.0.0:8780"]

# Fairclock with every extra but vLLM: what `fairclock up` and `fairclock report` need.
#
# Not built by the project's CI, which has no container engine: what it does is what `make demo` does on Debian.
FROM python:3.12-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        fonts-noto-cjk fonts-noto-core libharfbuzz-subset0 libpango-1.0-0 libpangoft2-1.0-0 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/fairclock
COPY requirements/runtime.txt requirements/build.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/runtime.txt -r requirements/build.txt
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY fairclock fairclock
COPY collectors collectors
COPY exporters exporters
COPY sla sla
COPY billing billing
COPY dashboards dashboards
COPY inference_probe inference_probe
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --create-home --uid 1000 fairclock && install -d -o fairclock /var/lib/fairclock
USER fairclock
ENV FAIRCLOCK_DSN=chdb:///var/lib/fairclock
VOLUME /var/lib/fairclock
EXPOSE 4317 4318 8780
ENTRYPOINT ["fairclock"]
CMD ["up", "--grpc", "0.0.0.0:4317", "--http", "0.0.0.0:4318", "--listen", "0.0.0.0:8780"]

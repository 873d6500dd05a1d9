"""``fairclock up`` as a process, a real Prometheus that scrapes it, and a tracing backend: a kill loses and doubles nothing."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from fairclock.cli.pipeline.metrics.reference import groups
from fairclock.demo.live.programs import free_port
from tests.alert_engine.factories import a_line
from tests.alert_engine.test_up import write_contract
from tests.faults.processes import Restarted, eventually
from tests.webhooks.receiver import Receiver

TIMED = 'sum by (le) (fairclock_request_duration_seconds_bucket{clock="end_to_end"})'
OK = 'fairclock_requests_total{tenant="acme",outcome="ok"}'


def fetched(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
        return answer.read()


class Prometheus:
    """A Prometheus that scrapes one target every second."""

    def __init__(self, folder, target):
        self.port = free_port()
        self.folder = folder
        scrape = {"job_name": "fairclock", "scrape_interval": "1s", "static_configs": [{"targets": [target]}]}
        (folder / "prometheus.json").write_text(json.dumps({"scrape_configs": [scrape]}))

    def __enter__(self):
        self.log = (self.folder / "prometheus.log").open("wb")
        self.process = subprocess.Popen(
            [
                shutil.which("prometheus"), "--config.file=prometheus.json", "--storage.tsdb.path=tsdb",
                f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage",
            ],
            cwd=self.folder, stdout=self.log, stderr=self.log,
        )  # fmt: skip
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def said(self):
        return (self.folder / "prometheus.log").read_text(errors="replace")

    def asked(self, what="query", **parameters):
        try:
            answer = fetched(
                f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
            )
        except OSError:
            return []
        data = json.loads(answer)["data"]
        return data if isinstance(data, list) else data["result"]

    def value(self, query):
        return sum(float(each["value"][1]) for each in self.asked(query=query))

    def increase(self, selector):
        """What a counter rose by since it was first heard; a fall is a restart."""
        total = 0.0
        for series in self.asked(query=f"{selector}[1h]"):
            values = [float(value) for _, value in series["values"]]
            total += sum(
                later - earlier if later >= earlier else later for earlier, later in pairwise(values)
            )
        return total


def spans_in(receiver):
    return [
        span
        for each in list(receiver.received)
        if each.path == "/v1/traces"
        for found in ExportTraceServiceRequest.FromString(gzip.decompress(each.body)).resource_spans
        for scope in found.scope_spans
        for span in scope.spans
        if not span.name.startswith("evaluator ")
    ]


@pytest.mark.integration
def test_a_real_prometheus_and_a_backend_hear_of_each_request_once_though_it_is_killed(tmp_path):
    port, log, now = free_port(), tmp_path / "access.log", datetime.now(UTC)
    write_contract(tmp_path / "acme.yaml", now.year)
    log.write_bytes(b"")
    numbers = iter(range(1, 1000))

    def write(count, status="200"):
        with log.open("ab") as file:
            for _ in range(count):
                at = datetime.now(UTC) - timedelta(seconds=1)
                file.write(a_line(at=at, number=next(numbers), status=status) + b"\n")

    with Receiver((200, {}, b"")) as receiver, Prometheus(tmp_path, f"127.0.0.1:{port}") as prometheus:
        (tmp_path / "fairclock.yaml").write_text(
            json.dumps(
                {
                    "gateway": {"files": [str(log)]},
                    "sla": {"contracts": ["acme.yaml"]},
                    "metrics": {"every": "2s", "aliases": ["deepseek_inference_queue_duration_seconds"]},
                    "otlp_export": {"to": f"http://127.0.0.1:{receiver.port}", "settle": "1s"},
                }
            )
        )
        up = Restarted(
            "fairclock", "up", "--listen", f"127.0.0.1:{port}", "--grpc", "off", "--http", "off", "--demo-gpu",
            "--dsn", f"chdb://{tmp_path}/store", folder=tmp_path, port=port,
        )  # fmt: skip

        def said():
            return up.said + prometheus.said()

        try:
            up.start().wait_until_it_answers()
            eventually(lambda: prometheus.value('up{job="fairclock"}') == 1, what=said, every=0.5)
            write(20)
            write(2, "500")
            eventually(lambda: prometheus.value(OK) == 20, what=said, every=0.5)
            up.kill()
            write(10)
            up.start().wait_until_it_answers()
            eventually(lambda: prometheus.increase(OK) == 30, what=said, every=0.5)
            # distinct ones: what was not noted before the kill comes again
            eventually(lambda: len({span.span_id for span in spans_in(receiver)}) >= 32, what=said, every=0.5)
            text = fetched(f"http://127.0.0.1:{port}/metrics")

            def exemplars():
                return prometheus.asked(
                    "query_exemplars", query="fairclock_request_duration_seconds_bucket",
                    start=now.timestamp(), end=now.timestamp() + 3600,
                )  # fmt: skip

            # each of them by itself: a scrape that took longer than its second leaves a moment without values
            found = eventually(exemplars, what=said, every=0.5)
            for query in (
                'fairclock_error_budget_burn_rate{contract="acme",window="1h"} > 1',
                "count(fairclock_gpu_utilization_ratio) == 2",
                f"histogram_quantile(0.5, {TIMED}) > 0.1 and histogram_quantile(0.5, {TIMED}) <= 0.25",
            ):
                eventually(lambda query=query: prometheus.asked(query=query), what=said, every=0.5)
            up.stop()
        finally:
            up.close()
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    seen = {int(each["labels"]["trace_id"], 16) for series in found for each in series["exemplars"]}
    assert seen
    assert seen <= set(range(1, 33))
    known = {each.name.removesuffix("_total"): each for group in groups() for each in group.families}
    for family in text_string_to_metric_families(text.decode()):
        if family.name.startswith("fairclock_"):
            assert family.type == known[family.name].kind
            labels = {name for sample in family.samples for name in sample.labels} - {"le"}
            assert labels == set(known[family.name].labels), family.name
    spans = spans_in(receiver)
    # a batch whose answer the kill kept from being noted comes again, with the same ids
    assert {int.from_bytes(span.trace_id, "big") for span in spans} == set(range(1, 33))
    assert len({span.span_id for span in spans}) == 32
    assert up.kills == 1

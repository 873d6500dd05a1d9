"""Health, readiness and figures as a load balancer and Prometheus ask for them."""

import asyncio

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from exporters.prometheus import Figure, exposition
from exporters.prometheus.compression import deflated, gzip_of
from fairclock.cli.pipeline.endpoint import health_routes


class Endpoint:
    """The routes, with what they are told."""

    def __init__(self, *, ended=(), ready=None, figures=(), token=None):
        routes = health_routes(
            ended=lambda: list(ended),
            ready=lambda: ready or {"spool": ""},
            scrape=lambda format_, compressed: self.scraped(figures, format_, compressed),
            token=token,
        )
        self.app = Starlette(routes=routes)

    @staticmethod
    def scraped(figures, format_, compressed):
        text = exposition(figures, format_=format_)
        return gzip_of(deflated(b""), text) if compressed else text

    def get(self, path, **headers):
        async def get():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://up") as client:
                return await client.get(path, headers=headers)

        return asyncio.run(get())


def test_a_process_whose_parts_run_is_healthy():
    answer = Endpoint().get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


def test_a_part_that_has_ended_is_named():
    answer = Endpoint(ended=["writer", "tail"]).get("/healthz")
    assert (answer.status_code, answer.text) == (500, "ended: writer, tail\n")


@pytest.mark.parametrize(
    ("checks", "status", "shown"),
    [
        ({"spool": "", "parts": ""}, 200, {"ready": True, "checks": {"spool": "ok", "parts": "ok"}}),
        ({"spool": "full", "parts": ""}, 503, {"ready": False, "checks": {"spool": "full", "parts": "ok"}}),
    ],
)
def test_who_cannot_take_new_data_is_not_ready_and_says_why(checks, status, shown):
    answer = Endpoint(ready=checks).get("/readyz")
    assert (answer.status_code, answer.json()) == (status, shown)


def test_figures_are_what_prometheus_reads_whatever_stands_in_their_labels():
    hostile = 'a"b\\c\nd{}'
    figures = [
        Figure(name="fairclock_rows", about="Rows.", value=3, labels={"source": hostile}, kind="counter"),
        Figure(name="fairclock_rows", about="Rows.", value=4, labels={"source": "b"}, kind="counter"),
        Figure(name="fairclock_spool_bytes", about="Bytes.", value=2.5),
    ]
    answer = Endpoint(figures=figures).get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    rows = families["fairclock_rows"]
    assert (rows.type, rows.documentation) == ("counter", "Rows.")
    assert {sample.labels["source"]: sample.value for sample in rows.samples} == {hostile: 3.0, "b": 4.0}
    assert families["fairclock_spool_bytes"].samples[0].value == 2.5
    assert families["process_resident_memory_bytes"].samples[0].value > 1e6


def test_who_asks_for_openmetrics_gets_it_and_plain_text_goes_uncompressed_to_who_wants_it_so():
    figures = [Figure(name="fairclock_spool_bytes", about="Bytes.", value=2.5)]
    answer = Endpoint(figures=figures).get("/metrics", accept="application/openmetrics-text;version=1.0.0")
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.headers["Content-Encoding"] == "gzip"  # httpx takes it unless it says otherwise
    assert answer.text.endswith("# EOF\n")
    assert "fairclock_spool_bytes 2.5\n" in answer.text
    plain = Endpoint(figures=figures).get("/metrics", **{"accept-encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert "fairclock_spool_bytes 2.5\n" in plain.text


@pytest.mark.parametrize(
    ("shown", "status"),
    [({}, 401), ({"authorization": "Bearer other"}, 401), ({"authorization": "Bearer s3cret"}, 200)],
    ids=["no token", "another token", "the token"],
)
def test_figures_are_for_who_shows_the_token_where_one_is_asked_for(shown, status):
    endpoint = Endpoint(token=lambda: "s3cret")
    assert endpoint.get("/metrics", **shown).status_code == status
    assert endpoint.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/", "/v1/frames", "/metrics/x"])
def test_nothing_else_is_answered(path):
    assert Endpoint().get(path).status_code == 404

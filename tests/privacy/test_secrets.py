"""Secrets are sent everywhere; afterwards no file and no table holds one.

Through up, a sidecar and ingest, as they run: prompts in spans, query strings, headers and keys that nobody asked
for, lines and bodies that cannot be read, a frame damaged on the disk.
"""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

from exporters.spool import Spool
from fairclock.demo.live.programs import free_port
from fairclock.model import Frame
from tests.collectors.otlp_requests import good_span, json_of, request_of
from tests.faults import traffic
from tests.faults.processes import PATIENCE_SECONDS, Restarted, eventually
from tests.sidecar.running import fairclock, figures

SECRET = "Zq7xKryptonite"
"""In every secret; letters and digits, so that masking would show."""
ATTRIBUTES = {
    "gen_ai.prompt": f"prompt {SECRET}01",
    "gen_ai.completion": f"completion {SECRET}02",
    "gen_ai.input.messages": [f"message {SECRET}03"],
    "llm.prompts.0.content": f"content {SECRET}04",
    "http.request.header.authorization": f"Bearer {SECRET}05",
    "url.full": f"http://engine/v1?key={SECRET}06",
    f"{SECRET}07": "a key",
}
RESOURCE = {
    "host.name": "gpu-1",
    "vllm.process_id": "4242",
    "process.command_line": f"vllm --api-key {SECRET}08",
}


def line(number, **changes):
    return json.dumps({**json.loads(traffic.line(number)), **changes}).encode()


GOOD_LINES = [
    line(0, uri=f"/v1/chat/completions?key={SECRET}10"),
    line(1, uri=f"/v1/chat/completions#{SECRET}11"),
    line(2, http_authorization=f"Bearer {SECRET}12", request_body=f"{SECRET}13", cookie=f"{SECRET}14"),
    line(3, **{f"{SECRET}15": {"deep": [f"{SECRET}16"]}}),
    line(4, traceparent=f"00-{SECRET}17", upstream_addr="10.0.0.1:8000"),
    line(5, prompt_tokens=f"{SECRET}18", stream=f"{SECRET}19"),
]
BAD_LINES = [
    f"a stack trace with {SECRET}20".encode(),
    f'{{"prompt": "{SECRET}21", "time": '.encode(),
    line(6, time=f"{SECRET}22"),
    line(7, status=f"{SECRET}23"),
    line(8, request_time=f"{SECRET}24"),
    f'["{SECRET}25"]'.encode(),
    b"\x00\x01" + f"{SECRET}26".encode() + b"\xff",
    f"POST /?q={SECRET}27 HTTP/1.1".encode() * 300,
]
ODD_SPANS = {
    "trace_id": f"{SECRET}30".encode(),
    "name": f"{SECRET}31",
    "trace_state": f"{SECRET}32",
}


def bodies():
    span = good_span(1, attributes=ATTRIBUTES)
    span.events.add(name=f"{SECRET}33").attributes.add(key="prompt").value.string_value = f"{SECRET}34"
    span.status.message = f"{SECRET}35"
    good = request_of(span, good_span(2, **ODD_SPANS), resource=RESOURCE)
    whole = good.SerializeToString()
    wrong = good_span(
        3, attributes={"gen_ai.latency.e2e": f"{SECRET}36", "gen_ai.usage.prompt_tokens": f"{SECRET}37"}
    )
    protobuf, text = "application/x-protobuf", "application/json"
    return [
        (whole, protobuf),
        (json_of(request_of(good_span(4, attributes=ATTRIBUTES), resource=RESOURCE)), text),
        (request_of(wrong).SerializeToString(), protobuf),
        (whole[: len(whole) // 2], protobuf),
        (f'{{"resourceSpans": "{SECRET}38"}}'.encode(), text),
        (f"{SECRET}39".encode(), text),
        (f"{SECRET}40".encode(), f"text/{SECRET}41"),
    ]


def leave_a_damaged_spool(folder):
    """Leave frames of an earlier run that were not delivered, one of them spoiled by the disk."""
    with Spool(folder, limit_bytes=1 << 30) as spool:
        spool.append(
            [
                Frame(
                    kind="gateway", format="nginx-json", source="gateway", generation="earlier", offset=number,
                    payload=each + b"\n",
                )
                for number, each in enumerate([line(8, uri=f"/?{SECRET}60"), f"no line {SECRET}61".encode()])
            ]
        )  # fmt: skip
    (segment,) = (folder / "segments").iterdir()
    data = segment.read_bytes()
    segment.write_bytes(data.replace(f"{SECRET}60".encode(), f"{SECRET}99".encode()))


def holding(folder, *, but_not):
    """Return the files in `folder` that hold a secret, plain or compressed."""
    found = []
    for path in folder.rglob("*"):
        if not path.is_file() or path in but_not:
            continue
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data += gzip.decompress(data)
        if SECRET.encode() in data or SECRET.encode().hex().encode() in data.lower():
            found.append(str(path.relative_to(folder)))
    return found


def tables_holding(dsn):
    """Return the tables, the system's own logs included, that hold a secret in any column."""
    names = fairclock(
        "query", "SELECT database || '.' || name FROM system.tables WHERE (database = 'fairclock' OR"
        " (database = 'system' AND name LIKE '%\\_log')) AND engine NOT LIKE '%View' FORMAT TSVRaw", "--dsn", dsn,
    ).split()  # fmt: skip
    assert "fairclock.dead_letters" in names
    looked_at = [
        name for name in names if name.startswith("fairclock.") or name.endswith(("query_log", "text_log"))
    ]
    # in one query: each command opens the folder anew
    each = " UNION ALL ".join(
        f"SELECT '{name}', countIf(position(toString(tuple(*)), 'Kryptonite') > 0) FROM {name}"
        for name in looked_at
    )
    lines = fairclock("query", f"{each} FORMAT TSVRaw", "--dsn", dsn).splitlines()
    counts = {name: int(count) for name, count in (line.split("\t") for line in lines)}
    assert sorted(counts) == sorted(looked_at)
    return {name: count for name, count in counts.items() if count}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which secrets went through everything, and what was sent lies apart from it."""
    folder, sent = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("sent")
    dsn = f"chdb://{folder}/store"
    token = fairclock("tokens", "create", "--scope", "collector", "--name", "c", "--dsn", dsn)
    log, other = sent / "access.log", sent / "other.log"
    log.write_bytes(b"")
    at, here, there, port = free_port(), free_port(), free_port(), free_port()
    up = Restarted(
        "fairclock", "up", "--listen", f"127.0.0.1:{at}", "--grpc", "off", "--http", f"127.0.0.1:{there}",
        "--file", log, "--dsn", dsn, folder=folder, port=at,
    )  # fmt: skip
    sidecar = Restarted(
        "fairclock", "collect", "gateway", "otlp", "--file", other, "--grpc", "off", "--http",
        f"127.0.0.1:{here}", "--to", f"http://127.0.0.1:{at}", "--spool", folder / "sidecar",
        "--listen", f"127.0.0.1:{port}", folder=folder, port=here, FAIRCLOCK_TOKEN=token,
    )  # fmt: skip
    answers = []
    leave_a_damaged_spool(folder / "sidecar")
    assert holding(folder, but_not=()) != []
    try:
        up.start().wait_until_it_answers()
        sidecar.start().wait_until_it_answers()
        lines = GOOD_LINES + BAD_LINES
        log.write_bytes(b"\n".join(lines) + b"\n")
        other.write_bytes(b"\n".join(each.replace(b"acme", b"other") for each in lines) + b"\n")
        for address in (here, there):
            for content, kind in bodies():
                answers.append(
                    httpx.post(
                        f"http://127.0.0.1:{address}/v1/traces?key={SECRET}50",
                        content=content,
                        headers={"Content-Type": kind, "Authorization": f"Bearer {SECRET}51"},
                        timeout=PATIENCE_SECONDS,
                    )
                )
        answers.append(
            httpx.post(
                f"http://127.0.0.1:{at}/v1/frames",
                content=f"{SECRET}52",
                headers={"Authorization": f"Bearer {SECRET}53"},
                timeout=PATIENCE_SECONDS,
            )
        )
        answers.append(httpx.get(f"http://127.0.0.1:{at}/{SECRET}54?{SECRET}55", timeout=PATIENCE_SECONDS))

        def delivered():
            here, there = (figures(f"http://127.0.0.1:{each}") for each in (port, at))
            kept = sum(each.get("fairclock_tail_lines_total", 0) for each in (here, there))
            waits = here["fairclock_spool_frames"] + there["fairclock_spool_frames"]
            return kept >= 2 * len(lines) and not waits

        eventually(delivered, what=lambda: up.said + sidecar.said)
        metrics = [
            httpx.get(f"http://127.0.0.1:{each}/metrics", timeout=PATIENCE_SECONDS).text
            for each in (port, at)
        ]
        sidecar.stop()
        (sent / "third.log").write_bytes(
            b"\n".join(each.replace(b"acme", b"third") for each in lines) + b"\n"
        )
        (sent / "spans.pb").write_bytes(bodies()[0][0])
        said = fairclock("ingest", "gateway", sent / "third.log", "--dsn", dsn)
        said += fairclock("ingest", "otlp", sent / "spans.pb", "--dsn", dsn)
        (folder / "ingest.stdout").write_text(said)
        up.stop()
    finally:
        sidecar.close()
        up.close()
    (folder / "metrics").write_text("".join(metrics))
    return folder, dsn, answers


def test_no_file_holds_a_secret(site):
    folder, _, _ = site
    assert holding(folder, but_not=()) == []


def test_a_damaged_segment_is_counted_and_nothing_of_it_is_kept(site):
    folder, _, _ = site
    (note,) = (folder / "sidecar" / "quarantine").iterdir()
    assert note.read_text().startswith("a segment of ")


def test_no_table_holds_a_secret(site):
    _, dsn, _ = site
    assert tables_holding(dsn) == {}


def test_no_answer_repeats_a_secret(site):
    _, _, answers = site
    assert [each.status_code for each in answers if SECRET in each.text] == []


def test_what_was_sent_did_arrive(site):
    """A search that finds nothing proves nothing where nothing was."""
    _, dsn, _ = site
    counts = fairclock(
        "query", "SELECT (SELECT count() FROM gateway_requests FINAL), (SELECT count() FROM engine_requests FINAL),"
        " (SELECT count() FROM dead_letters FINAL WHERE kind = 'gateway') FORMAT TSVRaw", "--dsn", dsn,
    )  # fmt: skip
    lines, spans, letters = map(int, counts.split())
    assert lines == 3 * len(GOOD_LINES)
    assert spans >= 3
    assert letters >= len(BAD_LINES)


def test_the_search_finds_what_is_there(tmp_path):
    (tmp_path / "plain").write_text(f"before {SECRET} after")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(SECRET.encode()))
    (tmp_path / "nothing").write_text("nothing")
    assert sorted(holding(tmp_path, but_not=())) == ["packed.gz", "plain"]

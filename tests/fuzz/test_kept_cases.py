"""What fuzzing or a reader found once: each case goes the ways of its kind again, among sound neighbours.

cases/lines/*.log are lines of a log; cases/bodies/*.json and *.pb are OTLP bodies, of which a name with "-taken" is to be
answered as taken, any other as refused.
"""

from pathlib import Path

import pytest

from tests.collectors.otlp_requests import request_of
from tests.faults import traffic
from tests.fuzz.bodies import Senders, assert_stored, encoded
from tests.fuzz.lines import pass_both_ways, sound_lines
from tests.fuzz.mutation import chooser

CASES = Path(__file__).parent / "cases"
LINES = sorted((CASES / "lines").iterdir())
BODIES = sorted((CASES / "bodies").iterdir())
WAYS = {".json": ["HTTP/JSON"], ".pb": ["HTTP/protobuf", "gRPC"]}
SOUND = 1_000


@pytest.fixture(scope="module")
def senders():
    with Senders() as senders:
        yield senders


@pytest.mark.parametrize("path", LINES, ids=[path.stem for path in LINES])
def test_a_kept_line_costs_no_neighbour(store, tmp_path, path):
    before, after = sound_lines(range(3)), sound_lines(range(3, 6))
    content = b"\n".join([*before, path.read_bytes(), *after, b""])
    pass_both_ways(store, tmp_path / "way", content, chooser(path.stem), sound=before + after)


@pytest.mark.parametrize(
    ("way", "path"),
    [pytest.param(way, path, id=f"{path.stem} over {way}") for path in BODIES for way in WAYS[path.suffix]],
)
def test_a_kept_body_costs_no_neighbour(store, senders, way, path):
    spans = [traffic.span(SOUND + number) for number in range(2)]
    assert senders.send(way, encoded(request_of(spans[0]), way)) == "taken"
    assert senders.send(way, path.read_bytes()) == ("taken" if path.stem.endswith("-taken") else "refused")
    assert senders.send(way, encoded(request_of(spans[1]), way)) == "taken"
    senders.store_in(store)
    assert_stored(store, [span.span_id.hex() for span in spans])

"""Sound lines among odd ones, on both ways into a store: a log that is followed, and a file that is imported."""

from __future__ import annotations

import gzip
import json
import time

from collectors.gateway.files import ingest_gateway_files
from exporters.clickhouse import lines_of
from exporters.clickhouse.batches import Gathering
from fairclock.store import Query
from tests.faults import traffic
from tests.fuzz.mutation import LONGEST_STEP_SECONDS, chooser, mutated
from tests.tailing.rig import Rig, Written, imported, rows_of

STEP_LINES = 5_000
SOUND_LINES = 200
MOST_PIECES = 12


def sound_lines(numbers):
    """Return the lines of `numbers` that equal no other."""
    return [traffic.line(number) for number in numbers if number == traffic.logged(number)]


def ids_of(lines):
    return {json.loads(line)["request_id"] for line in lines}


def stored_ids(store):
    return {row[0] for row in store.rows(Query(sql="SELECT request_id FROM gateway_requests FINAL"))}


def followed(folder, content, choose):
    """Return the frames of a log that grows piece by piece to `content`, its tail stopped or killed now and then."""
    rig = Rig(folder)
    log = Written(rig.path)
    cuts = sorted(choose.randint(0, len(content)) for _ in range(choose.randint(0, MOST_PIECES)))
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        log.write(content[start:end])
        rig.poll()
        ended = choose.random()
        if ended < 0.1:
            rig.kill()
        elif ended < 0.2:
            rig.restart()
    rig.poll().stop()
    return rig.frames


def store_frames(store, frames):
    """Store `frames` as the writer does, all of them together."""
    gathering = Gathering({"nginx-json": lines_of})
    gathering.add(frames)
    assert gathering.unreadable == []
    for batch in gathering.batches():
        store.ingest(batch)


def pass_both_ways(store, folder, content, choose, *, sound):
    """Follow a log that holds `content`, then import it; the `sound` lines are stored, and the second way adds nothing."""
    folder.mkdir()
    frames = followed(folder, content, choose)
    assert set(rows_of(frames)) == imported(content)
    store_frames(store, frames)
    assert ids_of(sound) <= stored_ids(store)
    packed = choose.random() < 0.5
    path = folder / ("imported.log.gz" if packed else "imported.log")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    counts = ingest_gateway_files(store, [str(path)], source="gateway")
    assert counts.stored == 0
    assert counts.read == counts.duplicates + counts.ignored + counts.dead_letters
    assert ids_of(sound) <= stored_ids(store)


def fuzz_lines(store, tmp_path, count):
    """Try `count` mutated lines; what a step tried stays in its folder where it fails."""
    choose = chooser("lines")
    for step, first in enumerate(range(0, count, STEP_LINES)):
        sound = sound_lines(range(first // 10, first // 10 + SOUND_LINES))
        odd = [mutated(choose.choice(sound), choose) for _ in range(min(STEP_LINES, count - first))]
        lines = sound + odd
        choose.shuffle(lines)
        content = b"".join(line + b"\n" for line in lines)
        (tmp_path / "step").write_bytes(content)
        began = time.monotonic()
        pass_both_ways(store, tmp_path / f"{step}", content, choose, sound=sound)
        assert time.monotonic() - began < LONGEST_STEP_SECONDS, f"step {step} hangs"
        for table in ("gateway_requests", "dead_letters", "covered"):
            store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
        for path in sorted((tmp_path / f"{step}").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()

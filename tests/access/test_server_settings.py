"""What a server in production is given: every log has an end, and the engine takes the file."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

from fairclock.store.disks import disks
from tests.faults.processes import environment

FILE = Path(__file__).parents[2] / "deploy" / "clickhouse" / "production" / "fairclock.xml"
ASKED = """
import chdb, sys
engine = chdb.connect(f"{sys.argv[1]}/data?config-file={sys.argv[1]}/config.xml")
print(engine.query("SELECT keep_free_space FROM system.disks WHERE name = 'default'").bytes().decode().strip())
print(engine.query("BACKUP DATABASE default TO Disk('backups', 'one')").bytes().decode().count("BACKUP_CREATED"))
print(engine.query(sys.argv[2], "TabSeparated").bytes().decode())
"""


def test_every_log_that_is_kept_has_an_end():
    logs = [each for each in ET.parse(FILE).getroot() if each.tag.endswith("_log")]
    assert {"query_log", "part_log", "text_log", "metric_log", "trace_log"} <= {each.tag for each in logs}
    for log in logs:
        assert log.get("remove") or re.fullmatch(
            r"event_date \+ INTERVAL \d+ DAY DELETE", log.findtext("ttl")
        )


def test_no_query_misses_rows_for_what_the_cache_of_conditions_remembers():
    assert ET.parse(FILE).getroot().findtext("query_condition_cache_size") == "0"


def test_the_engine_keeps_room_on_its_disk_and_backs_up_where_it_may(tmp_path):
    text = FILE.read_text().replace("/var/lib/clickhouse-backups/", f"{tmp_path}/backups/")
    asked = []
    disks(SimpleNamespace(rows=lambda query: asked.append(query.sql) or []))
    (tmp_path / "config.xml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ASKED, tmp_path, *asked], env=environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept, backups, *rooms = done.stdout.split()
    assert (kept, backups) == (str(20 << 30), "1")
    room = dict(zip(rooms[::3], zip(map(int, rooms[1::3]), map(int, rooms[2::3]), strict=True), strict=True))
    free, total = room["default"]
    (free_of_all, of_all), has = room["backups"], shutil.disk_usage(tmp_path)
    # the two lie on one disk; of one a part is set aside, once
    assert (of_all, of_all - total) == (has.total, 20 << 30)
    assert abs(max(free_of_all - (20 << 30), 0) - free) < 1 << 30

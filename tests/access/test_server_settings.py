"""What a server in production is given: every log has an end, and the engine takes the file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.faults.processes import environment

FILE = Path(__file__).parents[2] / "deploy" / "clickhouse" / "production" / "fairclock.xml"
ASKED = """
import chdb, sys
engine = chdb.connect(f"{sys.argv[1]}/data?config-file={sys.argv[1]}/config.xml")
print(engine.query("SELECT keep_free_space FROM system.disks WHERE name = 'default'").bytes().decode().strip())
print(engine.query("BACKUP DATABASE default TO Disk('backups', 'one')").bytes().decode().count("BACKUP_CREATED"))
"""


def test_every_log_that_is_kept_has_an_end():
    logs = [each for each in ET.parse(FILE).getroot() if each.tag.endswith("_log")]
    assert {"query_log", "part_log", "text_log", "metric_log", "trace_log"} <= {each.tag for each in logs}
    for log in logs:
        assert log.get("remove") or re.fullmatch(
            r"event_date \+ INTERVAL \d+ DAY DELETE", log.findtext("ttl")
        )


def test_the_engine_keeps_room_on_its_disk_and_backs_up_where_it_may(tmp_path):
    text = FILE.read_text().replace("/var/lib/clickhouse-backups/", f"{tmp_path}/backups/")
    (tmp_path / "config.xml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ASKED, tmp_path], env=environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(20 << 30), "1"]

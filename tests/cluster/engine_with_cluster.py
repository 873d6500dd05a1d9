"""Run statements on an engine that knows a cluster of two shards nobody answers for: they are made and parsed, not queried.

``python -m tests.cluster.engine_with_cluster FOLDER``; standard input: {"parse": [...], "run": [...], "ask": [...]}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

NOBODY = "<replica><host>127.0.0.1</host><port>1</port></replica>"
CONFIG = f"""<clickhouse>
<remote_servers><fairclock><shard>{NOBODY}</shard><shard>{NOBODY}</shard></fairclock></remote_servers>
</clickhouse>"""


def escaped(text):
    """Return a text as a parameter is written."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def main(folder):
    import chdb

    asked = json.load(sys.stdin)
    config = Path(folder) / "config.xml"
    config.write_text(CONFIG)
    engine = chdb.connect(f"{folder}/data?config-file={config}")
    engine.query("CREATE DATABASE fairclock")
    engine.query("USE fairclock")
    parsed = [
        bool(engine.query("SELECT formatQuery({q:String})", "TSV", params={"q": escaped(each)}).bytes())
        for each in asked["parse"]
    ]
    for statement in asked["run"]:
        engine.query(statement)
    answers = [
        [json.loads(line) for line in engine.query(each, "JSONCompactEachRow").bytes().splitlines()]
        for each in asked["ask"]
    ]
    json.dump({"parsed": parsed, "answers": answers}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])

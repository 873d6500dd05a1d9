"""Real programs at once: ``up`` seals days and sends them, while rivals issue beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairclock.demo.live.programs import free_port
from fairclock.store import LineBatch, open_store
from tests.faults.processes import Restarted, eventually
from tests.issuing.conftest import signed_contract
from tests.issuing.mail_server import MailServer
from tests.revisions.conftest import lines
from tests.scripted.commands import done

TERM = {"from": "2026-09-29", "to": "2026-10-02", "time_zone": "Asia/Shanghai"}
SEPTEMBER = datetime(2026, 9, 29, 3, tzinfo=UTC)
OCTOBER = SEPTEMBER + timedelta(days=2)


def fairclock(*words: object, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fairclock", *map(str, words), "--config", folder / "fairclock.yaml"],
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.integration
def test_up_seals_and_sends_each_day_while_rivals_beside_it_share_no_number(tmp_path, provider, customer):
    contract = signed_contract(tmp_path, provider, customer, term=TERM)
    port, dsn = free_port(), f"chdb://{tmp_path}/store"
    with open_store(dsn) as store:
        for start, number in ((SEPTEMBER, 0), (OCTOBER, 100)):
            store.ingest(LineBatch(kind="gateway", source="g", lines=lines(start, "..x.", number=number)))
    with MailServer() as server:
        (tmp_path / "fairclock.yaml").write_text(
            json.dumps(
                {
                    "store": {"dsn": dsn},
                    "sla": {
                        "contracts": [contract.name],
                        "seals": {"receivers": [{"name": "acme", "mail": ["sla@acme.example"]}]},
                    },
                    "mail": {
                        "host": "127.0.0.1", "port": server.port, "tls": "none", "sender": "fairclock@example.com",
                    },
                }
            )
        )  # fmt: skip
        up = Restarted(
            "fairclock", "up", "--listen", f"127.0.0.1:{port}", "--grpc", "off", "--http", "off", "--dsn", dsn,
            folder=tmp_path, port=port,
        )  # fmt: skip
        try:
            up.start().wait_until_it_answers()
            rivals = [
                fairclock("report", contract, "--month", month, "--issue", "--json", folder=tmp_path)
                for month in ("2026-09", "2026-10")
            ]
            issued = [each.communicate(timeout=240) for each in rivals]
            assert {each.returncode for each in rivals} == {0}, issued
            here = SimpleNamespace(dsn=dsn)
            listed = done(here, "reports", "list", "--json").out

            def attached():
                return [
                    (each.get_filename(), each.get_payload(decode=True))
                    for mail in server.received
                    for each in mail.message.iter_attachments()
                ]

            # up looks for closed days once a minute, and its first look may come before their hours are sealed
            eventually(lambda: len(attached()) == 4, what=lambda: up.said, seconds=300)
            name, content = attached()[-1]
            (tmp_path / name).write_bytes(content)
            verified = done(here, "reports", "verify", tmp_path / name).out
            up.stop()
        finally:
            up.close()
    assert [each["number"] for each in json.loads(listed)] == ["acme-2026-R000001", "acme-2026-R000002"]
    assert name == "acme-2026-2026-10-02.r1.seal.json"
    assert "it is number 4 of the chain of acme-2026 in the store" in verified

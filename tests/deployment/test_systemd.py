"""The units for systemd: what systemd itself says of them, and that they start what there is."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.repository.test_words import check_call

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
PROGRAM = "/opt/fairclock/bin/fairclock"
UNITS = sorted(FOLDER.iterdir())
SERVICES = [path for path in UNITS if path.suffix == ".service"]
HARDENED = (
    "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "CapabilityBoundingSet=",
    "SystemCallFilter=@system-service", "User=fairclock", "RestrictNamespaces=yes",
)  # fmt: skip


@pytest.mark.integration
def test_systemd_takes_the_units(tmp_path):
    program = tmp_path / "fairclock"  # it has to be there to be verified
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace(PROGRAM, str(program)))
    analyze = shutil.which("systemd-analyze")
    assert analyze, "systemd-analyze is missing: scripts/debian-packages test installs it"
    done = subprocess.run(
        [analyze, "verify", "--man=no", *(str(tmp_path / path.name) for path in UNITS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about_ours = [line for line in done.stderr.splitlines() if "fairclock" in line]
    assert (done.returncode, about_ours) == (0, [])


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_may_little(path):
    lines = path.read_text().splitlines()
    assert [each for each in HARDENED if each not in lines] == []


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_starts_a_command_that_there_is(path):
    text = re.sub(r"\\\n\s*", " ", path.read_text()).replace("%%", "%")
    line = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1]
    words = shlex.split(line)
    if words[0] == "/bin/sh":
        inner = re.sub(r'"\$\((?:[^()]|\([^()]*\))*\)"', "2026-10", words[2])
        words = shlex.split(inner.removeprefix("exec "))
    assert words[0] == PROGRAM
    check_call(words[1:])


def test_a_timer_has_its_service():
    timers = {path.stem for path in UNITS if path.suffix == ".timer"}
    assert timers == {"fairclock-reports-preview", "fairclock-reports-issue"}
    assert timers <= {path.stem for path in SERVICES}

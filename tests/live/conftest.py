"""One run of real nginx, real vLLM and the plugin in it for every test that looks at it: a start takes a minute."""

import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairclock.demo.live.run import run_live

REQUESTS = 80
PROJECT = Path(__file__).parents[2] / "inference_probe/plugin"


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    """The plugin's wheel, unpacked as an installer would: modules, and the metadata by which vLLM finds it."""
    built, installed = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    return installed


@pytest.fixture(scope="session")
def result(tmp_path_factory, plugin):
    out = tmp_path_factory.mktemp("live")
    return run_live(out=out, requests=REQUESTS, now=datetime.now(UTC), plugin=plugin)

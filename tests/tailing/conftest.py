import pytest

from tests.tailing.rig import Rig, Written


@pytest.fixture
def rig(tmp_path):
    rig = Rig(tmp_path)
    yield rig
    if rig.tail is not None:
        rig.stop()


@pytest.fixture
def log(rig):
    return Written(rig.path)

"""What the spool's tests share."""

import pytest

from exporters.spool import disk


@pytest.fixture
def without_sync(monkeypatch):
    """Spare the disk where a test is about what is in the files, and opens thousands of spools."""
    monkeypatch.setattr(disk, "sync", lambda _: None)
    monkeypatch.setattr(disk, "sync_folder", lambda _: None)

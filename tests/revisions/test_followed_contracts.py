"""Contract files that change while `up` runs: what is judged by, and what is said of those that are broken."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from fairclock.cli.pipeline import contracts as module
from fairclock.cli.pipeline.contracts import FollowedContracts
from fairclock.errors import ContractError
from tests.revisions.conftest import a_file

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def titles(followed: FollowedContracts) -> list[list[str]]:
    return [[each.title.en for each in versions] for versions in followed.current]


def broken(followed: FollowedContracts) -> list[float]:
    return [each.value for each in followed.figures() if each.name == "fairclock_contract_file_broken"]


@pytest.fixture
def path(tmp_path):
    return a_file(tmp_path, title={"en": "One"})


def replaced(path, text):
    """Write as careful programs do: beside it, then in its place."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def test_a_file_that_changed_is_read_again(path, caplog):
    caplog.set_level(logging.INFO)
    followed = FollowedContracts.reading([path])
    old = followed.current[0][0].version_sha256[:12]
    # of another length: two writes in one tick of the file system's clock have one time
    a_file(path.parent, title={"en": "Second"})
    followed.step(NOW)
    assert titles(followed) == [["Second"]]
    new = followed.current[0][0].version_sha256[:12]
    assert [record.getMessage() for record in caplog.records] == [
        f"read {path} again: version {new} is in force, {old} is not any more"
    ]


@pytest.mark.parametrize(
    "spoil", [lambda path: replaced(path, "kind: [\n"), lambda path: path.unlink()], ids=["broken", "gone"]
)
def test_what_a_file_said_before_stays_in_force_until_it_can_be_read(path, spoil, caplog):
    followed = FollowedContracts.reading([path])
    good = path.read_text()
    spoil(path)
    for _ in range(3):
        followed.step(NOW)
    assert titles(followed) == [["One"]]
    assert broken(followed) == [1]
    assert list(followed.problems) == [path]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"what it said before stays in force: {path}: ")
    replaced(path, good.replace("One", "Two"))
    followed.step(NOW)
    assert (titles(followed), broken(followed), followed.problems) == ([["Two"]], [0], {})


def test_a_broken_file_keeps_no_other_from_being_read(path, tmp_path):
    (tmp_path / "other").mkdir()
    other = a_file(tmp_path / "other", id="other", title={"en": "One"})
    followed = FollowedContracts.reading([path, other])
    replaced(path, "")
    replaced(other, other.read_text().replace("One", "Two"))
    followed.step(NOW)
    assert titles(followed) == [["One"], ["Two"]]
    assert broken(followed) == [1, 0]


def test_versions_come_into_a_folder_and_go(tmp_path):
    folder = tmp_path / "acme"
    folder.mkdir()
    first = a_file(folder, title={"en": "First"})
    followed = FollowedContracts.reading([folder])
    (tmp_path / "later").mkdir()
    term = {"from": "2026-07-01", "to": "2026-12-31", "time_zone": "UTC"}
    later = a_file(tmp_path / "later", title={"en": "Second"}, term=term)
    later.rename(folder / "later.yaml")
    followed.step(NOW)
    assert titles(followed) == [["First", "Second"]]
    first.unlink()
    followed.step(NOW)
    assert titles(followed) == [["Second"]]
    (folder / "later.yaml").unlink()
    followed.step(NOW)
    assert (titles(followed), broken(followed)) == ([["Second"]], [1])


def test_a_file_that_did_not_change_is_not_read(path, monkeypatch):
    followed = FollowedContracts.reading([path])

    def read(path):
        raise AssertionError(path)

    monkeypatch.setattr(module, "load_versions", read)
    followed.step(NOW)
    assert titles(followed) == [["One"]]


def test_a_contract_that_is_broken_at_the_start_keeps_up_from_starting(path):
    replaced(path, "kind: Contract\n")
    with pytest.raises(ContractError):
        FollowedContracts.reading([path])

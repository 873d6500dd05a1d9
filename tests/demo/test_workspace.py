"""The demonstration's folder: what it replaces and what it leaves alone."""

from __future__ import annotations

import pytest

from fairclock.demo.workspace import MARKER, prepare_workspace
from fairclock.errors import UsageError


def test_a_new_folder_is_made_and_marked(tmp_path):
    workspace = prepare_workspace(tmp_path / "a" / "b")
    assert (workspace.root / MARKER).is_file()
    assert workspace.raw.is_dir()
    assert not workspace.store.exists(), "the store makes its own"


def test_an_earlier_demonstration_is_replaced_and_other_files_beside_it_stay(tmp_path):
    workspace = prepare_workspace(tmp_path / "out")
    (workspace.raw / "old.jsonl").touch()
    workspace.store.mkdir()
    (workspace.store / "part").touch()
    (workspace.root / "notes.txt").touch()
    again = prepare_workspace(tmp_path / "out")
    assert list(again.raw.iterdir()) == []
    assert not again.store.exists()
    assert (again.root / "notes.txt").exists()


def test_an_empty_folder_may_be_used(tmp_path):
    assert prepare_workspace(tmp_path).root == tmp_path.resolve()


def test_a_folder_that_no_demonstration_wrote_is_refused_and_left_alone(tmp_path):
    (tmp_path / "raw").mkdir()
    with pytest.raises(UsageError, match="not written by a demonstration"):
        prepare_workspace(tmp_path)
    assert (tmp_path / "raw").is_dir()
    assert not (tmp_path / MARKER).exists()


def test_a_file_is_refused(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match="is a file"):
        prepare_workspace(tmp_path / "out")


def test_a_place_below_a_file_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        prepare_workspace(tmp_path / "file" / "out")

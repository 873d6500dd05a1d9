"""The bundle of a rich month: verify.py reproduces the report without Fairclock, and names whatever was altered."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.bundle.conftest import PROGRAM, RichMonth

if TYPE_CHECKING:
    from types import ModuleType

_ALONE = """
import importlib.util, runpy, sys
sys.path.append({packages!r})
if any(importlib.util.find_spec(name) for name in ("fairclock", "sla", "billing", "pydantic", "clickhouse_connect")):
    sys.exit(99)
sys.argv = ["verify.py", *{arguments!r}]
runpy.run_path({program!r}, run_name="__main__")
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages in which there is pyarrow and nothing else."""
    folder = tmp_path_factory.mktemp("packages")
    where = Path(pa.__file__).parent
    for found in (where, *where.parent.glob("pyarrow.libs")):
        (folder / found.name).symlink_to(found)
    return folder


def alone(packages: Path, program: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run a program where neither this repository nor any other package is."""
    code = _ALONE.format(
        packages=str(packages), arguments=[str(each) for each in arguments], program=str(program)
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True, text=True, timeout=300, check=False, cwd="/", env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def recomputed(bundled: RichMonth, verify: ModuleType) -> dict[str, Any]:
    found, problems = verify.recomputed(verify.Bundle(bundled.folder))
    assert problems == []
    return found


def test_the_program_in_the_bundle_reproduces_everything_without_fairclock(bundled, packages):
    run = alone(packages, bundled.folder / "verify.py")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.endswith("Everything holds.\n")
    assert "NOT SO" not in run.stdout


def test_a_machine_without_pyarrow_says_nothing_of_the_report(bundled, tmp_path):
    run = alone(tmp_path, bundled.folder / "verify.py")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "No value was recomputed: No module named 'pyarrow'; install pyarrow (python -m pip install pyarrow).\n"
    )


def test_it_is_one_file_for_an_older_python_with_nothing_but_pyarrow():
    tree = ast.parse(PROGRAM.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - set(sys.stdlib_module_names) == {"pyarrow"}


def test_every_value_of_the_report_is_recomputed_or_named_as_one_that_is_not(bundled, verify, recomputed):
    """Change each by itself, one in twenty of them within the whole: of exactly that one it says that it is not so."""
    said = {path: value for path, value in verify.leaves(bundled.report) if not verify.is_left_alone(path)}
    found = {path: value for path, value in verify.leaves(recomputed) if not verify.is_left_alone(path)}
    assert verify.differing(said, found) == []
    assert len(said) > 2_000
    for path, value in said.items():
        follows = {path: found[path]}
        (problem,) = verify.differing({path: _other(value)}, follows)
        (missing,) = verify.differing({}, follows)
        assert problem.split(": ")[1] == missing.split(": ")[1] == path
    for path, value in list(said.items())[::20]:
        problems = verify.differing({**said, path: _other(value)}, found)
        assert [each.split(": ")[1] for each in problems] == [path]
        without = {name: each for name, each in said.items() if name != path}
        assert [each.split(": ")[1] for each in verify.differing(without, found)] == [path]


def test_what_is_not_recomputed_is_no_verdict_and_no_amount(bundled, verify):
    alone_ = {
        path.split("[")[0].split(".")[0]
        for path, _ in verify.leaves(bundled.report)
        if verify.is_left_alone(path)
    }
    assert alone_ == {"evidence", "incidents", "changes"}


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case None:
            return 0
        case str():
            return f"{value}x"
    return "x" if value == [] else {"x": 1}


def _files(bundled: RichMonth) -> list[str]:
    return sorted(
        path.relative_to(bundled.folder).as_posix() for path in bundled.folder.rglob("*") if path.is_file()
    )


def test_one_altered_byte_names_its_file(bundled, verify, tmp_path):
    assert verify.altered_files(bundled.folder) == []
    copy = tmp_path / "copy"
    shutil.copytree(bundled.folder, copy)
    for name in _files(bundled):
        path = copy / name
        before = path.read_bytes()
        place = len(before) // 2
        path.write_bytes(
            before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :] if before else b"\n"
        )
        named = [each.split(":")[0] for each in verify.altered_files(copy)]
        # an altered manifest is named first; it may say wrong things of another file
        assert (named[:1] if name == "manifest.json" else named) == [name]
        path.write_bytes(before)
    assert verify.altered_files(copy) == []


def test_a_file_that_is_gone_or_was_put_in_is_named(bundled, verify, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(bundled.folder, copy)
    (copy / "probes.jsonl").unlink()
    (copy / "contract" / "other.yaml").write_text("x", encoding="utf-8")
    assert verify.altered_files(copy) == [
        "probes.jsonl: it is missing",
        "contract/other.yaml: it was put in: the manifest does not know it",
    ]


def test_an_altered_bundle_is_told_in_a_sentence_and_never_a_traceback(bundled, packages, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(bundled.folder, copy)
    requests = copy / "requests.parquet"
    requests.write_bytes(requests.read_bytes()[:-40])
    run = alone(packages, bundled.folder / "verify.py", copy)
    assert run.returncode != 0
    assert run.stderr == ""
    assert "NOT SO  requests.parquet: it was altered" in run.stdout


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        pytest.param(
            "covered.json",
            lambda text: text.replace('"to": "2026-10-20T04:00:00Z"', '"to": "2026-10-20T05:00:00Z"'),
            "coverage.gateway",
            id="time that nobody read through is said to have been",
        ),
        pytest.param(
            "exclusions.jsonl",
            lambda text: text.replace('"state":"disputed"', '"state":"accepted"'),
            "exclusions[",
            id="a dispute is made an acceptance",
        ),
        pytest.param(
            "probes.jsonl",
            lambda text: text.replace('"outcome":"unreachable"', '"outcome":"ok"'),
            "objectives[",
            id="failed probes are said to have been answered",
        ),
        pytest.param(
            "sightings.jsonl",
            lambda text: text.replace('"queue_us":400000', '"queue_us":400900', 1),
            "measurement.differences[",
            id="a source is said to have told another queue of a probe",
        ),
        pytest.param(
            "ledger.jsonl",
            lambda text: text.replace('\\"requests\\":1000', '\\"requests\\":2000', 1),
            "its bytes do not give its hash",
            id="an entry of the ledger has other usage",
        ),
        pytest.param(
            "ledger.jsonl",
            lambda text: "".join(text.splitlines(keepends=True)[1:]),
            "its chain breaks",
            id="an entry of the ledger is taken out",
        ),
        pytest.param(
            "contract.json",
            lambda text: text.replace('"at_most": "2s"', '"at_most": "4s"'),
            "objectives[",
            id="the contract promises less than its file",
        ),
        pytest.param(
            "calendar.json",
            lambda text: text.replace('"2026-10-10"', '"2026-10-24"'),
            "peak is not what the rules give",
            id="a makeup workday is moved",
        ),
    ],
)
def test_whoever_forges_a_file_and_its_manifest_is_found_out_by_the_figures(
    bundled, verify, tmp_path, *, name, change, told
):
    copy = tmp_path / "copy"
    shutil.copytree(bundled.folder, copy)
    before = (copy / name).read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    (copy / name).write_text(after, encoding="utf-8")
    _made_whole(copy)
    assert verify.altered_files(copy) == []
    bundle = verify.Bundle(copy)
    found, problems = verify.recomputed(bundle)
    problems += verify.compare(bundle.json("report.json"), found)[2]
    assert any(told in each for each in problems), problems


def _made_whole(folder: Path) -> None:
    """Write the manifest anew, as somebody would who wants to hide a change."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for name in manifest["files"]:
        content = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    text = json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    noted = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.sha256").write_text(f"{noted}  manifest.json\n", encoding="utf-8")

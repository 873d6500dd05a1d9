"""``fairclock report`` from the command line to the exit code, on a real store."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairclock.cli import main

CONTRACT = """
apiVersion: fairclock/v1
kind: Contract
id: {id}
title: {{en: "{title}", zh: 推理服务协议}}
provider: {{name: Example Cloud}}
customer: {{name: "<img src=x>", tenants: ["<img src=x>"]}}
term: {{from: 2026-01-01, to: 2026-12-31, time_zone: Asia/Shanghai}}
clock: {{start: received}}
objectives:
  - {{name: p99, latency: {{clock: end_to_end, percentile: 99, at_most: {at_most}}}}}
  - {{name: availability, availability: {{formula: request_ratio, target: 99%}}}}
insufficient: {{below: {below}, verdict: void}}
unmeasured: {{time: bad, coverage_floor: 0%, below_floor: void, unknown_clock: bad}}
"""


def _line(second: int) -> str:
    return json.dumps(
        {
            "time": f"{1792000000 + second}.000",
            "request_id": f"{second:032x}",
            "traceparent": "",
            "tenant": "<img src=x>",
            "method": "POST",
            "uri": "/v1/chat/completions",
            "status": "200",
            "request_time": "1.000",
            "request_completion": "OK",
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a command ended and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class Workplace:
    """A folder with a store of two hundred requests of one second each, and contracts about them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dsn = f"chdb://{folder}/store"
        log = folder / "access.jsonl"
        log.write_text("".join(_line(second) + "\n" for second in range(200)), encoding="utf-8")
        done = self.run("ingest", "gateway", str(log))
        assert done.returncode == 0, done.stderr

    def contract(
        self, name: str, *, at_most: str = "1s", below: int = 10, title: str = "Inference service agreement"
    ) -> str:
        path = self.folder / f"{name}.yaml"
        path.write_text(CONTRACT.format(id=name, at_most=at_most, below=below, title=title), encoding="utf-8")
        return str(path)

    def run(self, *words: str, cwd: Path | None = None) -> Answer:
        """Run a command in this process, which has loaded what a command needs."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.chdir(cwd or self.folder), pytest.MonkeyPatch.context() as patched:
            patched.setenv("FAIRCLOCK_DSN", self.dsn)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    main(list(words))
                except SystemExit as end:
                    code = int(end.code or 0)
        return Answer(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())

    def run_apart(
        self, *words: str, cwd: Path | None = None, variables: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "fairclock", *words],
            env={
                **os.environ,
                "PYTHONPATH": str(Path.cwd()),
                "FAIRCLOCK_DSN": self.dsn,
                "PYTHONUTF8": "1",
                **(variables or {}),
            },
            cwd=cwd or self.folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def report(self, contract: str, *words: str) -> Answer:
        return self.run("report", contract, "--month", "2026-10", *words)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("workplace"))


@pytest.mark.parametrize(
    ("clauses", "code", "verdict"),
    [
        pytest.param({"at_most": "1s"}, 0, "met", id="0 where all is met, equality included"),
        pytest.param({"at_most": "0.999s"}, 1, "violated", id="1 where one is violated"),
        pytest.param({"below": 1000}, 3, "insufficient_data", id="3 where none could be judged"),
    ],
)
def test_the_exit_code_tells_the_verdicts(
    workplace: Workplace, clauses: dict[str, str], code: int, verdict: str
) -> None:
    done = workplace.report(workplace.contract(f"exit-{code}", **clauses), "--json")
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["objectives"][0]["verdict"] == verdict


def test_the_files_are_written_where_asked_and_their_paths_printed(workplace: Workplace) -> None:
    done = workplace.report(
        workplace.contract("files"),
        "--lang",
        "en,zh",
        "--format",
        "html,json",
        "--format",
        "csv",
        "-o",
        "out",
    )
    names = ["files-2026-10.html", "files-2026-10.zh.html", "files-2026-10.json", "files-2026-10.csv"]
    assert done.stdout.splitlines() == [f"out/{name}" for name in names]
    assert sorted(path.name for path in (workplace.folder / "out").iterdir()) == sorted(names)
    html = (workplace.folder / "out" / names[0]).read_text(encoding="utf-8")
    assert "&lt;img src=x&gt;" in html
    assert "<img" not in html


def test_json_prints_the_report_alone_and_writes_no_file(workplace: Workplace, tmp_path: Path) -> None:
    contract = workplace.contract("alone")
    done = workplace.run("report", contract, "--month", "2026-10", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["contract"]["id"] == "alone"
    assert list(tmp_path.iterdir()) == []


def test_the_same_as_of_gives_the_same_bytes_and_the_printed_hash(workplace: Workplace) -> None:
    contract = workplace.contract("again")
    as_of = json.loads(workplace.report(contract, "--json").stdout)["as_of"]
    for folder in ("first", "second"):
        done = workplace.report(contract, "--as-of", as_of, "--format", "json,html", "-o", folder)
        assert done.returncode == 0, done.stderr
    first, second = (
        {path.name: path.read_bytes() for path in (workplace.folder / folder).iterdir()}
        for folder in ("first", "second")
    )
    assert len(first) == 2
    assert first == second
    digest = hashlib.sha256(first["again-2026-10.json"]).hexdigest()
    assert digest in first["again-2026-10.html"].decode("utf-8")


def test_the_same_as_of_gives_the_same_bytes_in_another_zone_locale_hash_seed_and_folder(
    workplace: Workplace, tmp_path: Path
) -> None:
    contract = workplace.contract("everywhere")
    as_of = json.loads(workplace.report(contract, "--json").stdout)["as_of"]
    words = ["report", contract, "--month", "2026-10", "--as-of", as_of, "--lang", "en,zh"]
    surroundings = {
        "here": {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"},
        "there": {"TZ": "Pacific/Chatham", "LC_ALL": "tr_TR.UTF-8", "LANG": "zh_CN.UTF-8", "PYTHONHASHSEED": "4711"},
    }  # fmt: skip
    for place, variables in surroundings.items():
        folder = tmp_path / f"{place} – 其他"
        folder.mkdir()
        done = workplace.run_apart(*words, "-o", str(tmp_path / place), cwd=folder, variables=variables)
        assert done.returncode == 0, done.stderr
    here, there = (
        {path.name: path.read_bytes() for path in (tmp_path / place).iterdir()} for place in surroundings
    )
    assert len(here) == 6
    assert [name for name in here if here[name] != there.get(name)] == []


@pytest.fixture(scope="module")
def run_of_many(workplace: Workplace) -> subprocess.CompletedProcess[str]:
    return workplace.run_apart(
        "report",
        workplace.contract("many-met"),
        str(workplace.folder / "no-such-contract.yaml"),
        workplace.contract("many-violated", at_most="0.999s"),
        workplace.contract("many-open", below=1000),
        workplace.contract("many-undrawn", title="\U00017000"),
        *("--month", "2026-10", "--format", "pdf,html,json", "--jobs", "2", "-o", "many"),
    )


def test_of_many_contracts_each_that_can_be_is_written_and_the_others_are_told_at_the_end(
    workplace: Workplace, run_of_many: subprocess.CompletedProcess[str]
) -> None:
    names = [
        f"{each}-2026-10.{ending}"
        for each in ("many-met", "many-violated", "many-open")
        for ending in ("pdf", "html", "json")
    ]
    assert run_of_many.stdout.splitlines() == [f"many/{name}" for name in names]
    assert sorted(path.name for path in (workplace.folder / "many").iterdir()) == sorted(names)
    told = run_of_many.stderr.splitlines()
    assert told[0] == "2 of 5 reports were not written:"
    assert told[1].endswith("no-such-contract.yaml: 1 problem")
    assert told[2] == "  there is no such file; check the path"
    assert "many-undrawn.yaml: fonts: no installed font draws these characters" in told[3]
    assert run_of_many.returncode == 2
    assert "Traceback" not in run_of_many.stderr


def test_reports_of_one_run_are_as_of_one_instant_and_the_same_as_alone(
    workplace: Workplace, run_of_many: subprocess.CompletedProcess[str]
) -> None:
    del run_of_many
    instants = {json.loads(path.read_bytes())["as_of"] for path in (workplace.folder / "many").glob("*.json")}
    (as_of,) = instants
    alone = workplace.report(
        workplace.contract("many-met"), "--as-of", as_of, "--format", "html,json", "-o", "alone"
    )
    assert alone.returncode == 0, alone.stderr
    for name in ("many-met-2026-10.html", "many-met-2026-10.json"):
        assert (workplace.folder / "alone" / name).read_bytes() == (
            workplace.folder / "many" / name
        ).read_bytes()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param([{"below": 1000}, {"at_most": "0.999s"}], 1, id="1 where one is violated"),
        pytest.param([{}, {"below": 1000}], 3, id="3 where one could not be judged"),
    ],
)
def test_the_exit_code_of_many_tells_the_worst(
    workplace: Workplace, changes: list[dict[str, Any]], code: int
) -> None:
    contracts = [workplace.contract(f"worst-{code}-{n}", **each) for n, each in enumerate(changes)]
    done = workplace.run("report", *contracts, "--month", "2026-10", "--format", "json", "-o", "worst")
    assert done.returncode == code, done.stderr


def test_all_are_those_of_the_configuration_with_its_logo_and_templates(
    workplace: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "clock.html.j2").write_text("<section><h2>Our clock</h2></section>", encoding="utf-8")
    (tmp_path / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    contracts = [workplace.contract(f"configured-{number}") for number in (1, 2)]
    (tmp_path / "fairclock.yaml").write_text(
        f"sla: {{contracts: {json.dumps(contracts)}}}\nreports: {{templates: own, logo: logo.svg}}\n",
        encoding="utf-8",
    )
    done = workplace.run("report", "--all", "--month", "2026-10", "--format", "html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["configured-1-2026-10.html", "configured-2-2026-10.html"]
    for name in done.stdout.splitlines():
        html = (tmp_path / name).read_text(encoding="utf-8")
        assert "<h2>Our clock</h2>" in html
        assert 'class="logo" src="data:image/svg+xml' in html


def test_two_contracts_of_one_id_do_not_write_over_each_other(workplace: Workplace, tmp_path: Path) -> None:
    first = Path(workplace.contract("twice"))
    second = tmp_path / "other.yaml"
    second.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    done = workplace.run(
        "report", str(first), str(second), "--month", "2026-10", "--format", "json", "-o", "twice"
    )
    assert done.returncode == 2
    assert f"{second}: another contract of this run has its id (twice, in {first})" in done.stderr
    assert done.stdout.splitlines() == ["twice/twice-2026-10.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["--month", "2026-13"], "--month: not a month (2026-13); write the year and month", id="month"
        ),
        pytest.param(
            ["--lang", "de"], "--lang: there is no such choice (de); choose from en, zh", id="language"
        ),
        pytest.param(
            ["--format", "doc"], "--format: there is no such choice (doc); choose from pdf", id="format"
        ),
        pytest.param(["--as-of", "yesterday"], "--as-of: not an instant (yesterday)", id="instant"),
    ],
)
def test_wrong_words_are_answered_before_anything_is_opened(
    workplace: Workplace, words: list[str], message: str
) -> None:
    done = workplace.run(
        "report", "nowhere.yaml", "--month", "2026-10", *words, "--dsn", "chdb:///nowhere/else"
    )
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(None, "there is no such file", id="no file"),
        pytest.param("", "1 problem", id="an empty file"),
        pytest.param(
            "apiVersion: fairclock/v1\nkind: Contract\n", "problems", id="all problems of a contract"
        ),
    ],
)
def test_a_contract_that_cannot_be_used_is_refused(
    workplace: Workplace, tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "contract.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = workplace.report(str(path))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_month_outside_the_term_cannot_be_evaluated(workplace: Workplace) -> None:
    done = workplace.run("report", workplace.contract("term"), "--month", "2025-10")
    assert done.returncode == 3
    assert "month 2025-10" in done.stderr


def test_a_month_without_traffic_is_a_report_without_verdicts(workplace: Workplace) -> None:
    done = workplace.run(
        "report", workplace.contract("quiet"), "--month", "2026-09", "-o", "quiet", "--format", "html"
    )
    assert done.returncode == 3, done.stderr
    html = (workplace.folder / "quiet" / "quiet-2026-09.html").read_text(encoding="utf-8")
    assert "Of 2 objectives 0 were met, 0 were not, 2 could not be judged." in html

"""`fairclock contract` prints data on stdout, the rest on stderr, and leaves with the agreed exit code."""

import json
from pathlib import Path

import pytest

from fairclock.cli import main
from sla.contracts.schema import contract_schema
from tests.contracts.factories import ABSENT, contract_text

ROOT = Path(__file__).parents[2]
COMPLETE, BASIC = (str(ROOT / "examples/contracts" / name) for name in ("acme-2026.yaml", "basic.yaml"))
FIVE = str(Path(__file__).parent / "bad/five-mistakes.bad.yaml")


@pytest.fixture
def fairclock(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["contract", *arguments])
        printed = capsys.readouterr()
        return stop.value.code, printed.out, printed.err

    return run


@pytest.fixture
def written(tmp_path):
    def write(changes=None, name="contract.yaml"):
        file = tmp_path / name
        file.write_text(contract_text(changes))
        return str(file)

    return write


def test_a_contract_without_findings_prints_nothing_and_exits_0(fairclock, written):
    assert fairclock("lint", written()) == (0, "", "0 errors, 0 warnings\n")


def test_warnings_exit_0(fairclock, written):
    code, out, err = fairclock("lint", written({"quota": ABSENT}))
    assert (code, err) == (0, "0 errors, 1 warning\n")
    assert "warning: quota: without a quota" in out


def test_a_finding_that_is_an_error_exits_1(fairclock, written):
    code, out, _ = fairclock("lint", written({"objectives.1.availability.target": "100%"}))
    assert code == 1
    assert "error: objectives[1].availability.target (line " in out


def test_five_mistakes_are_five_lines_and_exit_1(fairclock):
    code, out, err = fairclock("lint", FIVE)
    assert (code, len(out.splitlines()), err) == (1, 5, "5 errors, 0 warnings\n")
    assert all(line.startswith(f"{FIVE}: error: ") for line in out.splitlines())


def test_findings_are_in_chinese_where_asked(fairclock):
    code, out, err = fairclock("lint", FIVE, "--lang", "zh")
    assert (code, err) == (1, "5 个错误，0 个警告\n")
    assert 'term.time_zone（第7行）：不是已知时区（"Asia/Shanghia"）；是否应为 Asia/Shanghai？' in out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"", "the file is empty", id="an empty file"),
        pytest.param(b"\x00\x01\x02", "the file is binary, not text", id="a binary file"),
        pytest.param(b"a: [", "the file is not YAML", id="a file that is no YAML"),
        pytest.param(None, "there is no such file", id="a file that is not there"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_and_exit_2(fairclock, tmp_path, content, sentence):
    file = tmp_path / "some.yaml"
    if content is not None:
        file.write_bytes(content)
    code, out, err = fairclock("lint", str(file))
    assert (code, out) == (2, "")
    assert sentence in err
    assert "0 errors" not in err
    assert "Traceback" not in err


def test_a_file_that_cannot_be_used_hides_no_finding_of_another(fairclock, tmp_path):
    code, out, _ = fairclock("lint", str(tmp_path), FIVE)
    assert code == 2
    assert len(out.splitlines()) == 5


def test_json_holds_both_languages_for_every_file(fairclock, written):
    code, out, err = fairclock("lint", "--json", FIVE, written({"quota": ABSENT}))
    answer = json.loads(out)
    assert (code, err, answer["errors"], answer["warnings"]) == (1, "", 5, 1)
    first, second = answer["files"]
    assert first["findings"][0]["path"] == "customer.tenants"
    assert first["findings"][0]["line"] == 6
    assert second["findings"] == [
        {
            "severity": "warning",
            "rule": "no-quota",
            "path": "quota",
            "line": None,
            "reason": second["findings"][0]["reason"],
            "suggestion": {
                "en": "add quota: {requests_per_minute: 600, rejected_below: bad}",
                "zh": "请补充 quota: {requests_per_minute: 600, rejected_below: bad}",
            },
        }
    ]


def test_schema_prints_the_schema(fairclock):
    code, out, err = fairclock("schema")
    assert (code, err) == (0, "")
    assert json.loads(out) == contract_schema()


def test_show_names_clauses_defaults_and_what_is_not_evaluated(fairclock):
    code, out, _ = fairclock("show", COMPLETE)
    assert code == 0
    assert "objectives[1].latency.at_most             1.5s" in out
    assert "Accepted, not evaluated by this version\n  objectives[12]" in out
    assert "2026-10-10 worked" in out
    _, out, _ = fairclock("show", BASIC)
    assert "defaults)\n  period.month     calendar" in out


def test_show_writes_out_the_periods_of_a_month(fairclock):
    _, out, _ = fairclock("show", BASIC, "--month", "2026-10")
    assert "Month 2026-10: 2026-10-01T00:00:00+08:00 to 2026-11-01T00:00:00+08:00, 744 hours" in out
    assert "2026-10-10T09:30:00+08:00 to 2026-10-10T11:30:00+08:00" in out
    assert "2026-10-05T09:30" not in out


def test_show_as_json_is_what_a_bundle_needs(fairclock):
    _, out, _ = fairclock("show", COMPLETE, "--json", "--month", "2026-10")
    answer = json.loads(out)
    assert answer["clauses"]["objectives"][0]["latency"] == {
        "clock": "end_to_end",
        "percentile": "99",
        "at_most": "2s",
    }
    assert answer["calendar"]["years"]["2026"]["worked"] == [
        "2026-01-04",
        "2026-02-14",
        "2026-02-28",
        "2026-05-09",
        "2026-09-20",
        "2026-10-10",
    ]
    assert len(answer["month"]["periods"]["peak"]) == 2 * 18
    assert answer["not_evaluated"][0] == "objectives[12]"


def test_show_says_which_years_are_not_on_record(fairclock, written):
    file = written({"calendar.holidays": "CN", "calendar.peak.0.days": "workdays", "term.to": "2099-12-31"})
    code, out, _ = fairclock("show", file)
    assert code == 0
    assert "2099 unknown: moved workdays are on record up to" in out
    code, _, err = fairclock("show", file, "--month", "2099-03")
    assert code == 3
    assert err.startswith("calendar.holidays: moved workdays are on record up to")


@pytest.mark.parametrize(
    ("month", "sentence"),
    [("2027-01", "the contract is not in force"), ("October", "not a month (October)")],
)
def test_a_month_that_cannot_be_shown_is_refused(fairclock, month, sentence):
    code, out, err = fairclock("show", BASIC, "--month", month)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "0 errors" not in err


def test_a_contract_with_mistakes_cannot_be_shown_and_all_are_named(fairclock):
    code, out, err = fairclock("show", FIVE)
    assert (code, out) == (2, "")
    assert err.startswith(f"{FIVE}: 5 problems\n")
    assert len(err.splitlines()) == 6

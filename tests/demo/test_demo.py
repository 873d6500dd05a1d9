"""The demonstration as a user runs it, from the command line to the reports."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from fairclock.demo.tenants import TENANTS

REQUESTS = 1_500


def fairclock(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "fairclock", *words],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def month(tmp_path_factory):
    folder = tmp_path_factory.mktemp("month")
    done = fairclock("demo", "--requests", str(REQUESTS), "--seed", "1", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "demo-out", json.loads(done.stdout), done.stderr


def gateway_rows(raw):
    for path in sorted(raw.glob("gateway-*")):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        yield from map(json.loads, content.splitlines())


def test_everything_that_was_simulated_arrives_in_the_store(month):
    _, summary, _ = month
    assert summary["requests"] == REQUESTS
    for kind in ("gateway", "engine"):
        assert summary[kind]["dead_letters"] == 0
        assert summary[kind]["duplicates"] == 0
    assert summary["gateway"]["stored"] == REQUESTS
    assert summary["engine"]["ignored"] >= 4, "spans of engines that start are no requests"
    assert sum(each["requests"] for each in summary["tenants"]) == REQUESTS


def test_the_p99_with_queueing_is_that_of_the_logs(month):
    out, summary, _ = month
    answered = {tenant.name: [] for tenant in TENANTS}
    for row in gateway_rows(out / "raw"):
        if row["status"] == "200" and row["request_completion"] == "OK":
            answered[row["tenant"]].append(round(float(row["request_time"]) * 1000))
    expected = {}
    for name, values in answered.items():
        expected[name] = sorted(values)[-(-99 * len(values) // 100) - 1] / 1000
    reports = [json.loads(path.read_bytes()) for path in sorted((out / "reports").glob("*.json"))]
    for report in reports:
        (name,) = report["contract"]["customer"]["tenants"]
        (row,) = [row for row in report["latency"] if row["clock"] == "end_to_end"]
        assert row["p99"] == expected[name]
        assert report["simulated"] is True
        assert report["coverage"]["gateway"] == report["coverage"]["engine"] == 1
    assert len(reports) == len(TENANTS) == len(summary["tenants"])


def test_queueing_costs_time_and_inference_is_only_a_part_of_it(month):
    _, summary, _ = month
    for tenant in summary["tenants"]:
        assert tenant["p99_with_queueing"] >= tenant["p99_without_queueing"] > tenant["p99_inference"] > 0


def test_each_contract_has_its_report_in_four_formats_and_two_languages(month):
    out, summary, _ = month
    written = {path.name for path in (out / "reports").iterdir()}
    for tenant in summary["tenants"]:
        stem = f"{tenant['contract']}-2026-10"
        assert {
            f"{stem}.pdf",
            f"{stem}.zh.pdf",
            f"{stem}.html",
            f"{stem}.zh.html",
            f"{stem}.json",
            f"{stem}.csv",
        } <= written
    assert {Path(path).name for path in summary["reports"]} == written


def test_what_is_being_done_is_said_beside_the_data_and_how_long_it_took(month):
    _, summary, said = month
    names = ["simulate", "ingest gateway", "ingest spans", "join and seal", "enter exclusions"]
    names += ["rate, close and verify", "grant a credit", "evaluate and issue", "write a bundle"]
    names += ["write reports and invoices"]
    assert [stage["name"] for stage in summary["stages"]] == names
    assert all(name in said for name in names)


def test_the_store_beside_it_gives_the_same_report_again(month):
    out, _, _ = month
    (report,) = (out / "reports").glob("yunfan-*.json")
    content = json.loads(report.read_bytes())
    done = fairclock(
        "report",
        str(out / "contracts" / "yunfan.yaml"),
        "--month",
        "2026-10",
        "--format",
        "json",
        "--as-of",
        content["as_of"],
        "--dsn",
        f"chdb://{out / 'store'}",
        "-o",
        "again",
        cwd=out,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    (again,) = (out / "again").glob("*.json")
    assert again.read_bytes() == report.read_bytes()


def test_the_month_is_billed_to_the_last_request_and_closed(month):
    out, summary, _ = month
    ledger = summary["ledger"]
    assert (ledger["state"], ledger["entries_verified"] > 0) == ("final", True)
    assert {each["tenant"] for each in ledger["tenants"]} == {tenant.name for tenant in TENANTS}
    assert sum(each["requests"] for each in ledger["tenants"]) == REQUESTS
    written = {path.name for path in (out / "invoices").iterdir()}
    assert {Path(path).name for path in summary["invoices"]} == written
    for each in ledger["tenants"]:
        stem = f"{each['tenant']}-2026-10-invoice"
        endings = ("pdf", "zh.pdf", "html", "zh.html", "csv", "zh.csv", "json")
        assert {f"{stem}.{ending}" for ending in endings} <= written
        statement = json.loads((out / "invoices" / f"{stem}.json").read_bytes())
        assert (statement["simulated"], statement["status"]) == (True, "final")
        assert statement["number"] == each["number"] == f"{each['tenant']}-000001"
        assert sum(Fraction(line["net"]) for line in statement["lines"]) == Fraction(each["net"])


def reports_of(out):
    found = [json.loads(path.read_bytes()) for path in (out / "reports").glob("*.json")]
    return {report["contract"]["id"]: report for report in found}


def test_reports_know_what_was_charged(month):
    out, summary, _ = month
    gross = {each["tenant"]: each["gross"] for each in summary["ledger"]["tenants"]}
    for report in reports_of(out).values():
        (name,) = report["contract"]["customer"]["tenants"]
        assert report["amounts"]["gross"] == gross[name]
        assert report["not_evaluated"] == []


def test_a_chinese_and_an_english_customer_accepted_one_exclusion_and_dispute_another(month):
    out, summary, _ = month
    reports = reports_of(out)
    assert summary["exclusions"] == 4
    for contract, clause in (("yunfan-2026", "customer_action"), ("acme-2026", "force_majeure")):
        states = {each["clause"]: each["state"] for each in reports[contract]["exclusions"]}
        assert states == {"exclusions.maintenance": "accepted", f"exclusions.{clause}": "disputed"}
        (maintenance,) = [each for each in reports[contract]["exclusions"] if each["state"] == "accepted"]
        assert [each["late"] for each in maintenance["windows"]] == [False]


def test_a_credit_that_was_granted_stands_on_the_next_months_statement(month):
    out, _, _ = month
    (credit,) = reports_of(out)["lumen-search-2026"]["credits"]
    assert (credit["objective"], credit["state"]) == ("availability", "granted")
    statement = json.loads((out / "invoices" / "lumen-search-2026-11-invoice.json").read_bytes())
    assert (statement["status"], statement["month"]) == ("draft", "2026-11")
    assert Fraction(statement["totals"]["net"]) == -Fraction(credit["amount"])


def test_one_report_is_issued_and_signed_and_its_customer_can_check_it(month):
    out, summary, _ = month
    issued, signature = map(Path, summary["issued"])
    assert issued.read_bytes() == (out / "reports" / "acme-2026-2026-10.json").read_bytes()
    words = ("reports", "verify", str(issued), "--contract", str(out / "contracts" / "acme.yaml"))
    assert signature.name.startswith(f"{issued.name}.")
    assert fairclock(*words, cwd=out).returncode == 0
    issued_bytes = issued.read_bytes()
    try:
        issued.write_bytes(issued_bytes.replace(b'"status": "final"', b'"status": "Final"'))
        assert issued.read_bytes() != issued_bytes
        assert fairclock(*words, cwd=out).returncode == 1
    finally:
        issued.write_bytes(issued_bytes)


def test_one_report_can_be_counted_again_by_the_program_in_its_bundle(month):
    out, summary, _ = month
    bundle = Path(summary["bundle"])
    (report,) = (out / "reports").glob(f"{bundle.name.removesuffix('-bundle')}.json")
    assert (bundle / "report.json").read_bytes() == report.read_bytes()
    done = subprocess.run(
        [sys.executable, str(bundle / "verify.py")], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith("Everything holds.\n")


def test_a_tampered_copy_of_its_ledger_is_caught(month):
    out, _, _ = month
    config = ("-c", "billing/fairclock.yaml")
    copied = fairclock("ledger", "export", "--format", "jsonl", "-o", "copy.jsonl", *config, cwd=out)
    assert copied.returncode == 0, copied.stderr
    assert fairclock("ledger", "verify", "copy.jsonl", cwd=out).returncode == 0
    lines = (out / "copy.jsonl").read_text().splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if '\\"requests\\":1,' in line)
    lines[place] = lines[place].replace('\\"requests\\":1,', '\\"requests\\":2,', 1)
    (out / "copy.jsonl").write_text("".join(lines))
    caught = fairclock("ledger", "verify", "copy.jsonl", cwd=out)
    assert caught.returncode == 1
    assert "its bytes or its link were changed" in caught.stdout


def test_recorded_arrivals_go_the_same_way(tmp_path):
    rows = [f"2023-11-16 18:{n // 60:02d}:{n % 60:02d}.5000000,{900 + n},{20 + n % 50}" for n in range(400)]
    (tmp_path / "hour.csv").write_text("\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]))
    done = fairclock("demo", "--trace", "hour.csv", "--replicas", "1", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "400 simulated requests, 2023-11, UTC" in done.stdout
    (report,) = (tmp_path / "demo-out" / "reports").glob("*.json")
    found = json.loads(report.read_bytes())
    assert found["traffic"]["outcomes"]["ok"] == 400
    assert found["period"]["month"] == "2023-11"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--month", "2026-13"), "not a month (2026-13)"),
        (("--month", "2099-01"), "is not over yet"),
        (("--trace", "none.csv"), "none.csv: cannot be read"),
        (("--trace", "none.csv", "--requests", "5"), "--requests: has no effect with --trace"),
        (("--replicas", "3"), "--replicas: has no effect"),
        (("--live", "--month", "2026-10"), "--month: has no effect with --live"),
        (("--out", "taken"), "was not written by a demonstration"),
        (("--requests", "0"), "--requests"),
    ],
)
def test_a_wrong_wish_is_answered_in_a_sentence_before_anything_is_touched(tmp_path, words, sentence):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").touch()
    done = fairclock("demo", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]

"""What is written: names, bytes, the canonical JSON, the harmless CSV, golden HTML."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from fairclock.errors import DocumentError, UsageError
from sla.reports import report_json, write_reports
from sla.reports.html import report_html
from sla.reports.table import report_csv
from tests.reports import factories
from tests.reports.write_golden import CASES, FOLDER


def rows(report: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(report_csv(report).decode("utf-8-sig"))))


@pytest.mark.parametrize(
    ("languages", "formats", "names"),
    [
        pytest.param(
            ["en"], ["json", "html", "csv"], ["acme-2026-2026-10.json", "acme-2026-2026-10.html", "acme-2026-2026-10.csv"], id="English"
        ),
        pytest.param(["zh"], ["html"], ["acme-2026-2026-10.html"], id="Chinese alone needs no mark"),
        pytest.param(
            ["en", "zh"],
            ["json", "html"],
            ["acme-2026-2026-10.json", "acme-2026-2026-10.html", "acme-2026-2026-10.zh.html"],
            id="both: the Chinese one is marked, JSON is written once",
        ),
        pytest.param(
            ["zh", "en"], ["html"], ["acme-2026-2026-10.zh.html", "acme-2026-2026-10.html"], id="in either order"
        ),
        pytest.param(["en", "en"], ["json", "json"], ["acme-2026-2026-10.json"], id="named twice, written once"),
    ],
)  # fmt: skip
def test_names(tmp_path: Path, languages: list[str], formats: list[str], names: list[str]) -> None:
    paths = write_reports(
        factories.report(), formats=formats, languages=languages, directory=tmp_path / "new"
    )
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)


def test_the_chinese_page_is_chinese_alone_or_beside_the_english_one(tmp_path: Path) -> None:
    write_reports(factories.report(), formats=["html"], languages=["zh"], directory=tmp_path / "alone")
    write_reports(factories.report(), formats=["html"], languages=["en", "zh"], directory=tmp_path / "both")
    alone = (tmp_path / "alone" / "acme-2026-2026-10.html").read_bytes()
    assert alone == (tmp_path / "both" / "acme-2026-2026-10.zh.html").read_bytes()
    assert b'lang="zh-Hans"' in alone
    assert b'lang="en"' in (tmp_path / "both" / "acme-2026-2026-10.html").read_bytes()


@pytest.mark.parametrize(
    ("formats", "languages", "message"),
    [
        pytest.param(["docx"], ["en"], r"--format: there is no such choice \(docx\); choose from pdf, html, json, csv", id="format"),
        pytest.param(["json"], ["de"], r"--lang: there is no such choice \(de\); choose from en, zh", id="language"),
        pytest.param([], ["en"], "--format: nothing is chosen", id="no format"),
    ],
)  # fmt: skip
def test_wrong_choices(tmp_path: Path, formats: list[str], languages: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write_reports(factories.report(), formats=formats, languages=languages, directory=tmp_path)


@pytest.mark.parametrize("name", ["../up", "a/b", "a\\b", ".hidden", "a\nb", "a:b", "名" * 90])
def test_an_id_that_cannot_be_a_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DocumentError, match="contract id: the contract's id cannot be a file name"):
        write_reports(
            factories.report(contract={"id": name}), formats=["json"], languages=["en"], directory=tmp_path
        )
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_where_one_of_the_formats_cannot_be(tmp_path: Path) -> None:
    report = factories.report(
        contract={"customer": {"name": "\U0001f9ff\U0001fae8 \U00016a40", "tenants": []}}
    )
    with pytest.raises(DocumentError, match="no installed font draws"):
        write_reports(report, formats=["json", "pdf"], languages=["en"], directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_json_is_the_report_in_one_order_whatever_the_order_of_the_dictionary() -> None:
    report = factories.report()
    shuffled = dict(sorted(report.items(), reverse=True))
    assert report_json(report) == report_json(shuffled)
    assert json.loads(report_json(report)) == report
    assert list(json.loads(report_json(report)))[:7] == [
        "schema",
        "simulated",
        "contract",
        "period",
        "as_of",
        "revision",
        "status",
    ]


def test_the_json_is_readable_and_ends_its_last_line() -> None:
    text = report_json(factories.chinese()).decode("utf-8")
    assert "华夏金融科技（上海）股份有限公司" in text
    assert text.endswith("}\n")


def test_decimals_in_the_dictionary_become_numbers() -> None:
    report = factories.report(amounts={"net": Decimal("12.50"), "tax": Decimal(3)})
    assert json.loads(report_json(report))["amounts"] == {"net": 12.5, "tax": 3}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), Decimal("NaN")])
def test_a_value_that_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(DocumentError, match="a value that JSON cannot carry"):
        report_json(factories.report(cost={"per_1000_requests": value}))


def test_the_csv_holds_every_figure_under_its_section_and_item() -> None:
    found = {(row["section"], row["item"], row["key"]): row["value"] for row in rows(factories.report())}
    assert found["objectives", "p99-peak", "value"] == "2.0004"
    assert found["objectives", "p99-peak", "interval.2"] == "2.044"
    assert found["latency", "queue", "p50"] == "9.6e-05"
    assert found["traffic", "outcomes", "timeout"] == "22"
    assert found["traffic", "", "admitted"] == "301542"
    assert found["daily", "2026-10-31", "p99_with_queue"] == str(
        factories.MIXED["daily"][-1]["p99_with_queue"]
    )
    assert found["breakdown", "queue", "share"] == "0.0941"
    assert found["as_of", "", ""] == "2026-11-03T04:12:05.250000Z"
    assert found["revision", "", ""] == ""
    assert found["simulated", "", ""] == "false"


def test_no_cell_of_the_csv_is_a_formula_and_negative_numbers_are_numbers() -> None:
    report = factories.hostile()
    report["breakdown"]["network"] = {"seconds": -0.0012, "share": -0.001}
    found = rows(report)
    by_key = {(row["section"], row["item"], row["key"]): row["value"] for row in found}
    assert by_key["contract", "customer", "tenants.1"] == "'=1+1"
    assert by_key["contract", "customer", "tenants.2"] == "'@SUM(A1)"
    assert by_key["objectives", "'-2+3", "name"] == "'-2+3"
    assert by_key["breakdown", "network", "seconds"] == "-0.0012"
    for row in found:
        for cell in row.values():
            assert cell[:1] not in {"=", "+", "@", "\t"}
            assert cell[:1] != "-" or float(cell) < 0


@pytest.mark.parametrize("name", CASES)
def test_golden_html(name: str) -> None:
    make, code = CASES[name]
    golden = (FOLDER / name).read_text(encoding="utf-8")
    assert report_html(make(), code) == golden, (
        "look at the change, then: python -m tests.reports.write_golden"
    )


_WRITE = (
    "import sys; from pathlib import Path; from sla.reports import write_reports; from tests.reports import factories\n"
    "write_reports(factories.chinese(), formats=['pdf', 'html', 'json', 'csv'], languages=['en', 'zh'], "
    "directory=Path(sys.argv[1]))"
)


def test_another_process_in_other_surroundings_writes_the_same_bytes(tmp_path: Path) -> None:
    write_reports(
        factories.chinese(),
        formats=["pdf", "html", "json", "csv"],
        languages=["en", "zh"],
        directory=tmp_path / "here",
    )
    subprocess.run(
        [sys.executable, "-c", _WRITE, str(tmp_path / "there")],
        env={
            **os.environ,
            "PYTHONPATH": str(Path.cwd()),
            "PYTHONHASHSEED": "7",
            "TZ": "America/St_Johns",
            "LANG": "C",
            "LC_ALL": "C",
        },
        cwd=tmp_path,
        check=True,
    )
    here, there = (
        {path.name: path.read_bytes() for path in (tmp_path / place).iterdir()} for place in ("here", "there")
    )
    assert len(here) == 6
    assert [name for name in here if here[name] != there.get(name)] == []


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_pdf_has_its_title_author_language_bookmarks_and_header_on_every_page(
    tmp_path: Path, code: str
) -> None:
    (path,) = write_reports(factories.simulated(), formats=["pdf"], languages=[code], directory=tmp_path)
    reader = PdfReader(path)
    assert reader.metadata.title.startswith({"en": "Inference service agreement", "zh": "推理服务协议"}[code])
    assert reader.metadata.author == "Example Cloud"
    assert reader.root_object["/Lang"] == {"en": "en", "zh": "zh-Hans"}[code]
    outline = [entry.title for entry in reader.outline if not isinstance(entry, list)]
    assert outline == [{"en": "Inference service agreement", "zh": "推理服务协议"}[code]]
    nested = [
        entry.title
        for entry in next(each for each in reader.outline if isinstance(each, list))
        if not isinstance(entry, list)
    ]
    assert {"en": "Definitions and method", "zh": "定义与方法"}[code] in nested
    assert 4 <= len(reader.pages) <= 8
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text()
        assert "acme-2026" in text
        assert f"{number} / {len(reader.pages)}" in text
        assert {"en": "SIMULATED DATA", "zh": "模拟数据"}[code] in text


def test_the_first_page_of_a_usual_contract_is_one_page(tmp_path: Path) -> None:
    for code, last in (("en", "To verify:"), ("zh", "核验方法")):
        (path,) = write_reports(factories.report(), formats=["pdf"], languages=[code], directory=tmp_path)
        assert last in PdfReader(path).pages[0].extract_text()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(
            "en", ["Of 2 objectives 0 were met, 2 were not, 0 could not be judged.", "at risk"], id="English"
        ),
        pytest.param("zh", ["2项指标：0项达标，2项未达标，0项无法判定。", "有违约风险"], id="Chinese"),
    ],
)
def test_the_pdfs_text_can_be_copied_out_with_hostile_names_as_text(
    tmp_path: Path, code: str, expected: list[str]
) -> None:
    (path,) = write_reports(factories.hostile(), formats=["pdf"], languages=[code], directory=tmp_path)
    text = subprocess.run(
        ["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    for each in [
        *expected,
        "<img src=x onerror=alert(1)>",
        "\"'; DROP TABLE requests; --",
        "acme[U+202E]gnp.exe",
    ]:
        assert each in text

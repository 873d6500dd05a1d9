"""What is printed is in the statement: in both languages, safe for spreadsheets, with no asset from elsewhere."""

import csv
import io
import re
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from billing.invoices import Party, statement, statement_sha256, write_statement
from billing.invoices.focus import FOCUS_COLUMNS, focus_csv, focus_rows
from billing.invoices.html import statement_html
from billing.invoices.table import statement_csv
from fairclock.errors import DocumentError, UsageError
from tests.invoices.factories import data, line, priced

WORDS = Path(__file__).parents[2] / "billing/invoices/words"
HOSTILE = '=HYPERLINK("http://evil.example","x")<script>alert(1)</script>'


def rows_of(content):
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


def test_both_languages_say_the_same_things():
    found = [tomllib.loads((WORDS / f"{code}.toml").read_text()) for code in ("en", "zh")]

    def keys(tree, prefix=""):
        for key, value in tree.items():
            if isinstance(value, dict):
                yield from keys(value, f"{prefix}{key}.")
            else:
                yield prefix + key, sorted(re.findall(r"{(\w+)}", value))

    assert dict(keys(found[0])) == dict(keys(found[1]))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        pytest.param(
            "en",
            [
                "Statement of charges, not a tax invoice", "FC-2026-000042", "Example Cloud Co., Ltd.", "91310115MA1H8XYZ2Q",
                "8 December 2026", "PO-2026-0117", "acme-2026", "1,204,311", "0.0003", "million tokens", "18,233.4",
                "not in the price book: not charged", "tokens estimated, not measured", "refused", "Graduated tier",
                "of 2026-09", "of statement FC-2026-000041, 2026-09; report revision 2", "-120.50", "2,274.82", "2,411.31",
                "1 CNY = 0.1402 USD; central parity, CFETS, 30 October 2026", "338.07", "3040299000000000000",
            ],
            id="english",
        ),
        pytest.param(
            "zh",
            [
                "结算单（非发票）", "示例云计算有限公司", "统一社会信用代码 91310115MA1H8XYZ2Q", "2026年12月8日", "百万词元",
                "价税合计（大写）", "人民币贰仟肆佰壹拾壹元叁角壹分", "价目表未列，不计费", "服务抵扣", "*信息技术服务*推理服务费",
                "原结算单 FC-2026-000041", "2,411.31",
            ],
            id="chinese",
        ),
    ],
)  # fmt: skip
def test_the_page_says_what_the_statement_says(code, said):
    made = statement(data())
    html = statement_html(made, code)
    text = re.sub(r"<[^>]+>", " ", html)
    assert [each for each in said if each not in text] == []
    assert statement_sha256(made) in text


@pytest.mark.parametrize("code", ["en", "zh"])
def test_every_line_is_printed_with_its_figures(code):
    made = statement(data())
    html = statement_html(made, code)
    for each in made["lines"]:
        for key in ("net", "tax"):
            assert f'<td class="n">{Decimal(each[key]):,}</td>' in html


def test_a_draft_says_that_it_is_one():
    html = statement_html(statement(data(status="draft", number=None, issued_on=None, due_on=None)), "en")
    assert "A draft has no number" in html
    assert "not numbered" in html


def test_simulated_charges_are_marked():
    assert "nothing is owed" in statement_html(statement(data(simulated=True)), "en")
    assert "nothing is owed" not in statement_html(statement(data()), "en")


@pytest.mark.parametrize("code", ["en", "zh"])
def test_names_that_others_wrote_run_nowhere(code):
    hostile = data(
        tenant=HOSTILE,
        customer=Party(name={"en": HOSTILE, "zh": HOSTILE}, registration_id="+1"),
        lines=(
            priced("1", "request", "1", model=HOSTILE, machine="@x"),
            line(section="credits", objective="-2+3", unit_price=None),
        ),
    )
    made = statement(hostile)
    html = statement_html(made, code)
    assert "<script>" not in html
    for content in (statement_csv(made, code), focus_csv(made)):
        header, *rows = rows_of(content)
        for row in rows:
            for cell in row:
                is_number = re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", cell)
                assert is_number or cell[:1] not in {"=", "+", "-", "@", "\t"}, cell
            assert len(row) == len(header)


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_table_sums_to_its_last_row(code):
    made = statement(data())
    header, *rows, last = rows_of(statement_csv(made, code))
    assert len(rows) == len(made["lines"])
    numbers = [
        10 + offset
        for offset in range(12)
        if header[10 + offset] in {"net", "tax", "gross", "不含税金额", "税额", "价税合计"}
    ]
    assert len(numbers) == 3
    for place in numbers:
        assert sum(Decimal(row[place]) for row in rows) == Decimal(last[place])


def test_focus_rows_sum_to_the_statement_and_mark_credits_corrections_and_tax():
    made = statement(data())
    rows = list(focus_rows(made))
    assert all(tuple(row) and set(row) == set(FOCUS_COLUMNS) for row in rows)
    assert sum(Decimal(row["BilledCost"]) for row in rows) == Decimal(made["totals"]["gross"])
    marked = [(row["ChargeCategory"], row["ChargeClass"], Decimal(row["BilledCost"]) < 0) for row in rows]
    assert marked[:7] == [("Usage", None, False)] * 7
    assert marked[7:] == [
        ("Adjustment", None, True),
        ("Usage", "Correction", False),
        ("Credit", None, True),
        ("Tax", None, False),
    ]
    assert {row["InvoiceId"] for row in rows} == {"FC-2026-000042"}


def test_a_quotient_is_no_number_of_a_table():
    from fractions import Fraction

    third = line(section="corrections", quantity=Fraction(1, 3), unit_price=Fraction(1, 7))
    made = statement(data(lines=(third,)))
    assert "1/3" in statement_csv(made, "en").decode()
    (usage, _tax) = list(focus_rows(made))
    assert (usage["ConsumedQuantity"], usage["ListUnitPrice"]) == (None, None)


def test_files_are_named_by_tenant_and_month(tmp_path):
    made = statement(data())
    paths = write_statement(
        made, formats=["json", "html", "csv", "focus"], languages=["en", "zh"], directory=tmp_path
    )
    assert [path.name for path in paths] == [
        "acme-2026-10-invoice.json",
        "acme-2026-10-invoice.html",
        "acme-2026-10-invoice.zh.html",
        "acme-2026-10-invoice.csv",
        "acme-2026-10-invoice.zh.csv",
        "acme-2026-10-invoice.focus.csv",
    ]
    alone = write_statement(made, formats=["csv"], languages=["zh"], directory=tmp_path / "zh")
    assert [path.name for path in alone] == ["acme-2026-10-invoice.csv"]


def test_what_cannot_be_written_is_refused_before_anything_is(tmp_path):
    made = statement(data(tenant="../etc"))
    with pytest.raises(DocumentError, match="file name"):
        write_statement(made, formats=["json"], languages=["en"], directory=tmp_path)
    with pytest.raises(UsageError, match="choose from"):
        write_statement(made, formats=["xlsx"], languages=["en"], directory=tmp_path)
    with pytest.raises(UsageError, match="nothing is chosen"):
        write_statement(made, formats=["json"], languages=[], directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_pdf_has_its_fonts_and_the_same_bytes_twice(code, tmp_path):
    import pypdf

    made = statement(data())
    paths = [
        write_statement(made, formats=["pdf"], languages=[code], directory=tmp_path / each)[0]
        for each in "ab"
    ]
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    pages = pypdf.PdfReader(paths[0]).pages
    text = "".join(page.extract_text() for page in pages)
    for said in ("FC-2026-000042", "2,411.31", "2,274.82", "-120.50"):
        assert said in text
    fonts = [font.get_object() for page in pages for font in page["/Resources"]["/Font"].values()]
    descriptors = [each["/DescendantFonts"][0].get_object()["/FontDescriptor"] for each in fonts]
    assert descriptors
    assert all("/FontFile3" in each or "/FontFile2" in each for each in descriptors)

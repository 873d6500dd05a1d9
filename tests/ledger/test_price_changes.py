"""Prices that change within an hour, from a gateway's lines to the statement: each request once, at the price of the instant it was received."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from billing.bookkeeping.books import books_at, drafts_of
from billing.bookkeeping.price_books import BookPrices
from billing.prices.loading import load_price_book
from billing.usage import Treatment
from fairclock.cli import main
from fairclock.store.ledger import EntryChoice
from tests.cost_book.traffic import HOUR, engine, feed, gateway

BOOK = Path(__file__).parent / "prices.yaml"
HALF, QUARTER = 1800, 2700
TIMES = {  # seconds after 03:00 UTC, 11:00 in Shanghai; seconds it took; under which version it was received
    "at the hour's first instant": (0, 5, "2026-1"),
    "at A's last millisecond": (HALF - 0.001, 5, "2026-1"),
    "received under A and answered under B": (HALF - 10, 600, "2026-1"),
    "at the instant B begins": (HALF, 5, "2026-2"),
    "at B's last millisecond, and answered under A": (QUARTER - 0.001, 60, "2026-2"),
    "at the instant A holds again": (QUARTER, 5, "2026-3"),
    "received before the hour's end, answered in the next": (3590, 30, "2026-3"),
    "in the next hour": (3600, 5, "2026-3"),
}
ENDINGS = {
    "answered": ({}, Treatment.COMPLETED),
    "left": ({"status": "499"}, Treatment.ABORTED),
    "refused": ({"status": "429"}, Treatment.REFUSED),
    "failed": ({"status": "500", "upstream_status": "500"}, Treatment.REFUSED),
    "timed out": ({"status": "504", "upstream_status": "504"}, Treatment.INCOMPLETE),
    "at the second attempt": (
        {"upstream_addr": "10.0.0.1:8000, 10.0.0.2:8000", "upstream_status": "502, 200", "upstream_response_time": "0.001, 4.000"},
        Treatment.RETRIED,
    ),
    "of a prober": ({"tenant": "prober"}, Treatment.PROBE),
    "of two lengths": ({"prompt_tokens": "5000"}, Treatment.COMPLETED),
    "of another model": ({"model": "qwen3-32b"}, Treatment.COMPLETED),
}  # fmt: skip
SENT = [(when, ending) for when in TIMES for ending in ENDINGS]


def prices(folder):
    """Return a book of A, of B from 11:30, at which a request costs 1, and of A again from 11:45."""
    book = yaml.load(BOOK.read_text(), Loader=yaml.BaseLoader)
    (a,) = book["versions"]
    a |= {"minimum": {"per_month": "0.01"}, "included": [], "tiers": []}
    b = a | {"name": "2026-2", "from": "2026-10-07 11:30", "base_fee": "1"}
    again = a | {"name": "2026-3", "from": "2026-10-07 11:45"}
    path = folder / "prices.yaml"
    path.write_text(yaml.safe_dump(book | {"versions": [a, b, again]}, allow_unicode=True, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def run(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("billing")
    config = folder / "fairclock.yaml"
    gpu_time = {"engines": [{"engine": "engine-a", "machine": "NVIDIA H200", "gpus": 1}], "probe_tenants": ["prober"]}  # fmt: skip
    config.write_text(json.dumps({"billing": {"prices": str(prices(folder)), "gpu_time": gpu_time}}))

    def run(capsys, command, *words):
        with pytest.raises(SystemExit) as end:
            main(["ledger", command, "-c", str(config), "--dsn", store.dsn, "--json", *words])
        assert not end.value.code
        return json.loads(capsys.readouterr().out)

    lines, sequences = [], []
    for number, (when, ending) in enumerate(SENT):
        at, seconds, _ = TIMES[when]
        said = ENDINGS[ending][0] | {"completion_tokens": str(tokens_of(when))}
        lines.append(gateway(at, seconds, number + 1, **said))
        if number % 2:
            sequences.append(engine(at, seconds, number + 1, completion_tokens=tokens_of(when)))
    for _ in range(2):  # the second time as from a file that is read again
        feed(store, lines, sequences)
    return run


def tokens_of(when):
    """Return how many tokens are completed by requests of a time: a power of two, so that sums tell which are in them."""
    return 1 << list(TIMES).index(when)


def test_every_admitted_request_is_in_exactly_one_line_at_the_price_it_was_received_at(store, run, capsys):
    run(capsys, "rate", *window(2))
    names = _versions(run, capsys)
    found, tokens = Counter(), Counter()
    books = books_at(store, store.watermark())
    for entries in drafts_of(store, books, EntryChoice(kinds=("usage",))).values():
        for _, draft in entries:
            for item in draft.items:
                key = (names[draft.price_version], item.usage.treatment)
                found[key] += item.usage.requests
                tokens[key] += item.usage.completion_tokens
    expected, sums = Counter(), Counter()
    for when, ending in SENT:
        key = (TIMES[when][2], ENDINGS[ending][1])
        expected[key] += 1
        sums[key] += tokens_of(when)
    assert found == expected
    assert tokens == sums


def _versions(run, capsys):
    """Return the names of the versions that statements rest on, by their hashes."""
    made = run(capsys, "invoice", "--month", "2026-10", "--tenant", "acme")
    return {each["sha256"]: each["name"] for each in made["price_book"]["versions"]}


def test_the_statement_charges_each_request_by_the_version_of_its_receipt(run, capsys):
    run(capsys, "rate", *window(2))
    lines = run(capsys, "invoice", "--month", "2026-10", "--tenant", "acme")["lines"]
    fees = [
        (each["price_version"], each["model"], each["treatment"], each["quantity"], each["unit_price"])
        for each in lines
        if each["kind"] == "requests" and each["treatment"] == "completed"
    ]
    expected = Counter(
        (TIMES[when][2], "qwen3-32b" if ending == "of another model" else "m")
        for when, ending in SENT
        if ENDINGS[ending][1] is Treatment.COMPLETED
    )
    price = {"2026-1": "0.0002", "2026-2": "1", "2026-3": "0.0002"}
    assert sorted(fees) == sorted(
        (version, model, "completed", str(count), price[version]) for (version, model), count in expected.items()
    )  # fmt: skip
    at_b = [each for each in lines if each["price_version"] == "2026-2" and each["kind"] == "requests"]
    completed = 3 * sum(version == "2026-2" for _, _, version in TIMES.values())
    assert sum(Fraction(each["net_exact"]) for each in at_b) == completed


def test_rating_again_by_the_hour_changes_nothing(run, capsys):
    run(capsys, "rate", *window(2))
    assert run(capsys, "rate", *window(1))["entries"] == 0


def window(hours):
    start, end = HOUR, HOUR + timedelta(hours=hours)
    return ("--from", f"{start:%Y-%m-%dT%H:%MZ}", "--to", f"{end:%Y-%m-%dT%H:%MZ}")


@pytest.mark.parametrize(
    ("said", "is_other"),
    [
        pytest.param(("apiVersion:", "# a remark\napiVersion:"), False, id="a remark"),
        pytest.param(("base_fee: 0.0002", "base_fee: 0.0003"), True, id="a price"),
        pytest.param(
            ("tenants: [acme]", "tenants: [acme, globex]"), True, id="whom a minimum may be charged"
        ),
    ],
)
def test_only_what_may_change_a_charge_has_everything_rated_again(tmp_path, said, is_other):
    books = []
    for number, text in enumerate((BOOK.read_text(), BOOK.read_text().replace(*said))):
        path = tmp_path / f"{number}.yaml"
        path.write_text(text)
        books.append(BookPrices(load_price_book(path)))
    assert books[0].book.file_sha256 != books[1].book.file_sha256
    assert (books[0].sha256 != books[1].sha256) == is_other

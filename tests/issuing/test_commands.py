"""``fairclock reports list|key|sign|verify`` on a real store: who signed, what is unaltered, exit codes."""

from __future__ import annotations

import contextlib
import io
import json
from datetime import timedelta
from hashlib import sha256

import pytest

from fairclock.cli import main
from fairclock.store import Query
from sla.issuing.signing import sign
from tests.issuing.conftest import OCTOBER, begin_anew, change, signed_contract
from tests.issuing.keys import NOW, Party
from tests.revisions.conftest import keep

NUMBER = "acme-2026-R000001"


@pytest.fixture(scope="module")
def issued_once(module_store, tmp_path_factory, provider, customer):
    """A report that was issued for all tests that leave it alone; returns its bytes."""
    begin_anew(module_store)
    contract = signed_contract(tmp_path_factory.mktemp("contract"), provider, customer)
    return module_store("report", contract, "--month", "2026-10", "--json", "--issue").out.encode()


@pytest.fixture
def fairclock(module_store, issued_once):
    """The commands on the module's store, where one report was issued and nobody has signed it."""
    module_store.store.execute(Query(sql="TRUNCATE TABLE report_signatures"))
    return module_store


@pytest.fixture
def issued(issued_once):
    return issued_once


@pytest.fixture
def and_then_undone(fairclock):
    """Take away again what a test adds to the one report and its requests."""
    yield
    for table, added in (("issued_reports", "sequence > 1"), ("gateway_requests", "received_at >= '2026-10-15'"),
                         ("evaluations", "revision > 1")):  # fmt: skip
        fairclock.store.execute(
            Query(sql=f"ALTER TABLE {table} DELETE WHERE {added} SETTINGS mutations_sync = 2")
        )


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "signed"
    path.mkdir()
    return path


def verify(fairclock, file, contract, *words, code=0):
    return fairclock("reports", "verify", file, "--contract", contract, "--json", *words, code=code).json


def wrong(tree):
    every = [*tree["findings"], *(each for sig in tree["signatures"] for each in sig["findings"])]
    return [each["text"] for each in every if each["wrong"]]


def test_both_parties_sign_and_verify_says_who_did(  # noqa: PLR0917 - fixtures and a table's columns
    fairclock, issued, contract, folder, provider, customer, tmp_path
):
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    file = folder / f"{NUMBER}.json"
    assert file.read_bytes() == issued
    fairclock("reports", "sign", file, "--key", customer.key_file(tmp_path))
    tree = verify(fairclock, file, contract)
    assert tree["good"]
    assert sorted(each["signer"] for each in tree["signatures"]) == [
        "the customer, Acme",
        "the provider, Example Cloud",
    ]
    texts = [each["text"] for each in tree["findings"]]
    assert f"it is what was issued as {NUMBER}, byte for byte" in texts


def test_what_was_signed_elsewhere_is_kept_and_printed(  # noqa: PLR0917 - fixtures and a table's columns
    fairclock, issued, contract, folder, provider, customer, tmp_path
):
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    elsewhere = tmp_path / "elsewhere.sig"
    elsewhere.write_bytes(sign(issued, customer.key, file="copy.json", now=NOW))
    fairclock("reports", "sign", NUMBER, "--add", elsewhere, "-o", folder)
    (row,) = fairclock("reports", "list", "--json").json
    assert row["signatures"] == 2
    fairclock("report", contract, "--month", "2026-10", "--issue", "--format", "html,json", "--lang", "en,zh", "-o", folder)  # fmt: skip
    english = (folder / "acme-2026-2026-10.html").read_text()
    chinese = (folder / "acme-2026-2026-10.zh.html").read_text()
    for page, said in ((english, ["Signed by the provider", "Signed by the customer"]), (chinese, ["服务方已签名", "客户方已签名"])):  # fmt: skip
        assert all(each in page for each in [*said, NUMBER, provider.text.replace("+", "+"), sha256(issued).hexdigest()])  # fmt: skip
    assert (folder / "acme-2026-2026-10.json").read_bytes() == issued


@pytest.mark.parametrize("place", [0, 100, -2], ids=["the first byte", "one inside", "one near the end"])
def test_an_altered_byte_is_found_with_and_without_the_store(  # noqa: PLR0917 - fixtures and a table's columns
    fairclock, issued, contract, folder, provider, tmp_path, place
):
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    file = folder / f"{NUMBER}.json"
    other = bytearray(issued)
    other[place] ^= 1
    file.write_bytes(bytes(other))
    tree = verify(fairclock, file, contract, code=1)
    assert any("the bytes are not those that were signed" in each for each in wrong(tree))


def test_a_report_that_was_made_up_is_no_report_of_the_store(fairclock, issued, contract, folder, provider):
    made_up = json.loads(issued)
    made_up["issue"]["number"] = "acme-2026-R000009"
    file = folder / "report.json"
    file.write_text(json.dumps(made_up))
    (folder / "report.json.0.sig").write_bytes(
        sign(file.read_bytes(), provider.key, file="report.json", now=NOW)
    )
    assert "nothing was issued as acme-2026-R000009" in wrong(verify(fairclock, file, contract, code=1))
    made_up["issue"]["number"], made_up["traffic"]["admitted"] = NUMBER, 1
    file.write_text(json.dumps(made_up))
    assert any(
        f"what was issued as {NUMBER} has other bytes" in each
        for each in wrong(verify(fairclock, file, contract, code=1))
    )


def test_a_report_without_a_signature_and_a_key_of_nobody_are_findings(
    fairclock, issued, contract, folder, tmp_path
):
    file = folder / "report.json"
    file.write_bytes(issued)
    assert "it is not signed" in wrong(verify(fairclock, file, contract, code=1))[0]
    (folder / "report.json.0.sig").write_bytes(
        sign(issued, Party("stranger").key, file="report.json", now=NOW)
    )
    tree = verify(fairclock, file, contract, code=1)
    assert "is none of those that are trusted here" in wrong(tree)[0]
    assert tree["signatures"][0]["signer"] is None


def test_another_version_of_the_contract_vouches_for_nobody(  # noqa: PLR0917 - fixtures and a table's columns
    fairclock, issued, contract, folder, provider, tmp_path
):
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    change(contract, title="Another")
    found = wrong(verify(fairclock, folder / f"{NUMBER}.json", contract, code=1))
    assert any("that is here is another version than it names" in each for each in found)
    assert any("nobody here says whose the key" in each for each in found)


def test_a_key_on_the_command_line_is_trusted(fairclock, issued, folder, provider, tmp_path):
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    tree = fairclock("reports", "verify", folder / f"{NUMBER}.json", "--key", provider.text, "--json").json
    assert tree["signatures"][0]["signer"] == "the key given with --key"


def test_verify_works_where_there_is_no_store_and_makes_none(  # noqa: PLR0917 - fixtures and a table's columns
    fairclock, issued, contract, folder, provider, tmp_path, monkeypatch
):
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FAIRCLOCK_DSN", raising=False)
    monkeypatch.chdir(folder)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as end:
        main(["reports", "verify", f"{NUMBER}.json", "--contract", str(contract)])
    assert end.value.code == 0
    assert "there is no store here to hold it against" in out.getvalue()
    assert not (tmp_path / "data").exists()


def test_a_later_revision_is_told(fairclock, and_then_undone, contract, folder, provider, tmp_path):  # noqa: PLR0917 - fixtures and a table's columns
    fairclock("reports", "sign", NUMBER, "--key", provider.key_file(tmp_path), "-o", folder)
    keep(fairclock, OCTOBER + timedelta(days=1), "..", number=100)
    fairclock("report", contract, "--month", "2026-10", "--json", "--issue")
    tree = verify(fairclock, folder / f"{NUMBER}.json", contract)
    assert "a later revision was issued since: acme-2026-R000002" in [
        each["text"] for each in tree["findings"]
    ]


@pytest.mark.parametrize(
    ("party", "mode", "said"),
    [
        ("stranger", 0o600, "--key: is none of the keys that the contract names"),
        ("provider", 0o644, "the key can be read by others than its owner (mode 0644)"),
    ],
    ids=["another key than the contract's", "a key that others can read"],
)
def test_what_should_not_sign_does_not(fairclock, issued, provider, folder, tmp_path, party, mode, said):  # noqa: PLR0917 - fixtures and a table's columns
    key = (provider if party == "provider" else Party(party)).key_file(tmp_path, mode)
    assert said in fairclock("reports", "sign", NUMBER, "--key", key, "-o", folder, code=2).err
    assert list(folder.iterdir()) == []
    assert fairclock("reports", "list", "--json").json[0]["signatures"] == 0


def test_a_signature_of_other_bytes_is_not_kept(fairclock, issued, provider, folder, tmp_path):
    other = tmp_path / "other.sig"
    other.write_bytes(sign(issued + b" ", provider.key, file="report.json", now=NOW))
    done = fairclock("reports", "sign", NUMBER, "--add", other, "-o", folder, code=2)
    assert f"the signature: is none of {NUMBER}" in done.err
    assert fairclock.store.rows(Query(sql="SELECT count() FROM report_signatures")) == [(0,)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["sign", "acme-2026-R000007", "--key", "KEY"],
            "is neither a file nor the number of an issued report",
        ),
        (["sign", NUMBER], "needs one of --key and --add"),
        (["verify", "nowhere.json"], "the file cannot be read"),
        (["key"], "--key: is missing"),
    ],
    ids=["a number that was never given", "no key", "no file", "no key to print"],
)
def test_wrong_words_are_answered(fairclock, provider, tmp_path, words, said):
    key = str(provider.key_file(tmp_path))
    done = fairclock("reports", *(key if each == "KEY" else each for each in words), code=2)
    assert said in done.err


def test_key_prints_the_public_key_as_a_contract_names_it(fairclock, provider, tmp_path):
    assert fairclock("reports", "key", "--key", provider.key_file(tmp_path)).out.strip() == provider.text


def test_what_is_nested_deeper_than_can_be_read_is_signed_as_a_file_like_any_other(
    fairclock, provider, tmp_path
):
    deep = tmp_path / "deep.json"
    deep.write_bytes(b"[" * 200_000)
    fairclock("reports", "sign", deep, "--key", provider.key_file(tmp_path))
    said = fairclock("reports", "verify", deep, "--key", provider.text, code=0).out
    assert "ok" in said


def test_a_file_cannot_write_to_the_terminal_of_whoever_verifies_it(fairclock, contract, issued, tmp_path):
    tree = json.loads(issued)
    tree["issue"]["number"] = "acme\x1b[2K\x1b[1Gok    everything\u202e"
    made_up = tmp_path / "made_up.json"
    made_up.write_text(json.dumps(tree), encoding="utf-8")
    said = fairclock("reports", "verify", made_up, "--contract", contract, code=1).out
    assert "[U+001B]" in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_list_is_one_line_a_report(fairclock, issued):
    line = fairclock("reports", "list").out
    assert line.startswith(f"{NUMBER}  2026-10  revision 1  as of ")
    assert line.rstrip().endswith(f"SHA-256 {sha256(issued).hexdigest()[:16]}…  signatures: 0")

"""Signatures: whoever alters a byte is found, and so is whoever signs with another key or another certificate."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from fairclock.errors import InputError
from sla.issuing.keys import parse_public_key, read_certificates, read_private_key, read_public_key
from sla.issuing.signing import read_signature, sign
from sla.issuing.verifying import Trust, check_signature
from tests.issuing.keys import NOW, YEAR, Party, write_pem

PROVIDER, CUSTOMER, STRANGER = Party("provider"), Party("customer"), Party("stranger")
ROOT, OTHER_ROOT = Party("root"), Party("another root")
CONTENT = b'{"schema": "fairclock.report/1"}\n'
TRUST = Trust(keys={PROVIDER.key.public: ("the provider, Example Cloud",)})
NOBODY = Trust(keys={})
DAY = timedelta(days=1)


def signed(party=PROVIDER, content=CONTENT, *, now=NOW, certificates=()):
    return sign(content, party.key, file="report.json", now=now, certificates=certificates)


def checked(file, content=CONTENT, *, trust=TRUST, now=NOW + DAY):
    return check_signature(content, file, where="report.json.sig", trust=trust, now=now)


def said(found):
    return [each.text for each in found.findings if each.is_wrong]


def altered(signature, /, **changes):
    return json.dumps({**json.loads(signature), **changes}).encode()


def test_a_signature_says_what_was_signed_when_and_by_whose_key():
    found = checked(signed())
    assert found.is_good
    assert found.signer == "the provider, Example Cloud"
    assert (found.key, found.signed_at) == (PROVIDER.text, NOW)


def test_any_program_that_knows_ed25519_can_check_the_bytes():
    tree = json.loads(signed())
    raw = b64decode(tree["public_key"].removeprefix("ed25519:"))
    Ed25519PublicKey.from_public_bytes(raw).verify(b64decode(tree["signature"]), CONTENT)


@given(content=st.binary(min_size=1, max_size=200), place=st.integers(min_value=0), bits=st.integers(1, 255))
def test_any_altered_byte_of_a_signed_file_is_found(content, place, bits):
    other = bytearray(content)
    other[place % len(content)] ^= bits
    found = checked(signed(content=content), bytes(other))
    assert not found.is_good
    assert any("the bytes are not those that were signed" in each for each in said(found))


@given(content=st.binary(max_size=200), more=st.binary(min_size=1, max_size=20))
def test_bytes_put_before_or_behind_are_found(content, more):
    file = signed(content=content)
    assert not checked(file, content + more).is_good
    assert not checked(file, more + content).is_good


SIGNED = signed()
WITH_CHAIN = signed(certificates=(PROVIDER.certificate(ROOT), ROOT.certificate(is_authority=True)))


@pytest.mark.parametrize("file", [SIGNED, WITH_CHAIN], ids=["without certificates", "with certificates"])
@given(place=st.integers(0, len(SIGNED) - 1), byte=st.integers(0, 255))
def test_no_altered_byte_of_a_signature_changes_what_it_says_unnoticed(file, place, byte):
    other = bytearray(file)
    other[-place] = byte
    found = checked(bytes(other))
    before = checked(file)
    assert not found.is_good or (found.signer, found.key, found.signed_at, found.findings) == (
        before.signer,
        before.key,
        before.signed_at,
        before.findings,
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"signed_at": "2026-11-01T00:00:00Z"}, "of time, key and certificates was altered"),
        ({"file": "other.json"}, "of time, key and certificates was altered"),
        ({"key_id": "0" * 16}, "of time, key and certificates was altered"),
        ({"public_key": STRANGER.text}, "the signature was not made with its key"),
        ({"sha256": "0" * 64}, "the bytes are not those that were signed"),
        ({"size_bytes": 1}, "the bytes are not those that were signed"),
        ({"algorithm": "none"}, "is no signature"),
        ({"schema": "fairclock.signature/2"}, "is no signature"),
        ({"signature": "AAAA"}, "the signature was not made with its key"),
        ({"signature": "no base64"}, "is no signature"),
        ({"public_key": "ed25519:AAAA"}, "is not a public key of Ed25519"),
        ({"certificates": ["no certificate"]}, "holds no certificate"),
        ({"certificates": 7}, "is no signature"),
        ({"signed_at": "2026-11-03T08:00:00"}, "is no signature"),
        ({"signed_at": "0001-01-01T00:00:00+23:59"}, "is no signature"),
        ({"size_bytes": float("inf")}, "is no signature"),
    ],
    ids=[
        "another time", "another name of the file", "another key id", "another key", "another hash", "another size",
        "another algorithm", "another schema", "a short signature", "a signature that is no base64", "a short key",
        "a certificate that is none", "certificates that are no list", "an instant without a zone",
        "an instant before all time", "a size without end",
    ],
)  # fmt: skip
def test_a_signature_that_was_altered_is_found(changes, problem):
    found = checked(altered(SIGNED, **changes))
    assert not found.is_good
    assert any(problem in each for each in said(found)), said(found)


@pytest.mark.parametrize(
    "file", [b"", b"[]", b"\xff", b"{}", b"[" * 100_000, b'{"schema": "fairclock.signature/1"}']
)
def test_what_is_no_signature_is_a_finding_and_never_an_error(file):
    assert not checked(file).is_good


@pytest.mark.parametrize(
    ("trust", "problem"),
    [
        (NOBODY, "nobody here says whose the key"),
        (Trust(keys={CUSTOMER.key.public: ("the customer",)}), "is none of those that are trusted here"),
    ],
    ids=["no key is known", "another key is known"],
)
def test_a_key_that_nobody_vouches_for_is_a_finding(trust, problem):
    found = checked(signed(), trust=trust)
    assert found.signer is None
    assert [problem in each for each in said(found)] == [True]


def test_a_signature_of_the_future_is_a_finding():
    assert "which is yet to come" in said(checked(signed(now=NOW + YEAR)))[0]


def chain_of(party, *, end=NOW + YEAR, by=ROOT):
    return (party.certificate(by, end=end), by.certificate(is_authority=True, end=NOW + 2 * YEAR))


ROOTS = (ROOT.certificate(is_authority=True, end=NOW + 2 * YEAR),)


@pytest.mark.parametrize(
    ("party", "chain", "trust", "now", "signer", "problem"),
    [
        (STRANGER, chain_of(STRANGER), Trust(keys={}, authorities=ROOTS), NOW + DAY, "CN=stranger", None),
        (PROVIDER, chain_of(PROVIDER), TRUST, NOW + DAY, "the provider, Example Cloud", None),
        (PROVIDER, chain_of(PROVIDER), TRUST, NOW + 2 * YEAR, "the provider, Example Cloud", None),
        (STRANGER, chain_of(STRANGER), NOBODY, NOW + DAY, None, "nobody here says whose the key"),
        (STRANGER, chain_of(STRANGER, by=OTHER_ROOT), Trust(keys={}, authorities=ROOTS), NOW + DAY, None,
         "leads to no authority that is trusted here"),
        (STRANGER, chain_of(STRANGER), Trust(keys={}, authorities=ROOTS), NOW + YEAR + DAY, None,
         "expired at 2027-11-03T08:00:00Z; that it was signed before is the signer's own word"),
    ],
    ids=[
        "a certificate of an authority that is trusted names the signer",
        "a certificate beside a key of the contract",
        "a certificate that expired since, beside a key of the contract",
        "a certificate of an authority that nobody trusts",
        "a certificate of another authority",
        "a certificate that expired since, and nothing else",
    ],
)  # fmt: skip
def test_what_a_certificate_is_worth(party, chain, trust, now, signer, problem):  # noqa: PLR0917 - fixtures and a table's columns
    found = checked(signed(party, certificates=chain), trust=trust, now=now)
    assert found.signer == signer
    if problem is None:
        assert said(found) == []
    else:
        assert any(problem in each for each in said(found)), said(found)


@pytest.mark.parametrize(
    ("chain", "problem"),
    [
        ((PROVIDER.certificate(ROOT, end=NOW - DAY),), "expired at 2026-11-02T08:00:00Z"),
        ((PROVIDER.certificate(ROOT, start=NOW + DAY),), "was not valid before 2026-11-04T08:00:00Z"),
        ((STRANGER.certificate(ROOT),), "is about another key"),
        ((PROVIDER.certificate(ROOT), OTHER_ROOT.certificate(is_authority=True)), "was not issued by CN=another root"),
        ((PROVIDER.certificate(STRANGER), STRANGER.certificate()), "was not issued by CN=stranger"),
    ],
    ids=[
        "one that expired", "one that is not valid yet", "one about another key", "one that another authority issued",
        "one that somebody issued who is no authority",
    ],
)  # fmt: skip
def test_nothing_is_signed_with_a_certificate_that_does_not_hold(chain, problem):
    with pytest.raises(InputError, match=problem):
        signed(certificates=chain)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x0e"),
        (b"\x17\x0d25", b"\x17\x0dx5"),
        (b"\x55\x1d\x13\x01\x01\xff\x04\x02\x30", b"\x55\x1d\x13\x01\x01\xff\x04\x02\x31"),
    ],
    ids=["a version that there is none of", "an instant that is none", "an extension that cannot be read"],
)
def test_a_certificate_that_cannot_be_read_is_a_finding(before, after):
    written = PROVIDER.certificate(ROOT).public_bytes(serialization.Encoding.DER)
    assert written.count(before) >= 1
    other = b64encode(written.replace(before, after, 1)).decode()
    pem = f"-----BEGIN CERTIFICATE-----\n{other}\n-----END CERTIFICATE-----\n"
    found = checked(altered(SIGNED, certificates=[pem]))
    assert any("holds no certificate" in each for each in said(found)), said(found)


def test_a_certificate_that_was_put_in_place_of_another_is_found():
    file = signed(STRANGER, certificates=chain_of(STRANGER))
    other = json.loads(signed(STRANGER, certificates=(STRANGER.certificate(),)))["certificates"]
    assert not checked(altered(file, certificates=other), trust=Trust(keys={}, authorities=ROOTS)).is_good


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o620, 0o610])
def test_a_private_key_that_others_can_read_is_refused(tmp_path, mode):
    with pytest.raises(InputError, match=f"can be read by others than its owner .mode {mode:04o}"):
        read_private_key(PROVIDER.key_file(tmp_path, mode))


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_key_that_its_owner_alone_can_read_is_read_and_never_shown(tmp_path, mode):
    key = read_private_key(PROVIDER.key_file(tmp_path, mode))
    assert key.public.text == PROVIDER.text
    assert "Ed25519PrivateKey" not in repr(key)


@pytest.mark.parametrize(
    "content", [b"", b"ed25519:AAAA", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_what_is_no_private_key_is_refused(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="holds no private key"):
        read_private_key(path)


def test_keys_and_certificates_are_read_from_files_too(tmp_path):
    path = write_pem(tmp_path / "provider.pem", *chain_of(PROVIDER))
    assert len(read_certificates(path)) == 2
    assert read_public_key(str(path)).text == PROVIDER.text
    assert read_public_key(str(PROVIDER.key_file(tmp_path))).text == PROVIDER.text


@given(raw=st.binary(min_size=32, max_size=32))
def test_a_public_key_has_one_meaning_in_each_way_to_write_it(raw):
    key = parse_public_key(f"ed25519:{raw.hex()}", where="a key")
    assert key.raw == raw
    assert parse_public_key(key.text, where="a key") == key
    assert parse_public_key(key.text.rstrip("=").replace("+", "-").replace("/", "_"), where="a key") == key


@pytest.mark.parametrize(
    "text", ["ed25519:", "ed25519:AAAA", "ed25519:…", "rsa:AAAA", "AAAA", f"ed25519:{'A' * 42}!"]
)
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(InputError, match="is not a public key of Ed25519"):
        parse_public_key(text, where="signatures.provider_key")


def test_a_signature_reads_back_what_was_signed():
    found = read_signature(SIGNED, where="it")
    assert (found.file, found.size_bytes, found.is_whole) == ("report.json", len(CONTENT), True)

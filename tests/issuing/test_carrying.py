"""Seals on their way: by mail through a real server, by webhook to a real receiver; again until taken, never twice."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from billing.ledger.entries import NO_HASH
from exporters.mail.configuration import MailSection
from exporters.webhooks.configuration import WebhooksSection
from fairclock.errors import ConfigurationError, StoreError
from fairclock.store import Query, open_store
from fairclock.store.issued_reports import DaySealRow, keep_day_seals
from sla.issuing.carrying import Carrier, receivers_of
from sla.issuing.configuration import SealsSection
from sla.issuing.noticing import SealDeliveryStep
from tests.issuing.mail_server import MailServer
from tests.webhooks.receiver import Receiver

ENVIRONMENT = {"HOOK_SECRET": "shared", "MAIL_PASSWORD": "right", "WRONG_PASSWORD": "wrong"}
MAIL = {"name": "acme", "mail": ["sla@acme.example", "audit@acme.example"]}
DAY = datetime(2026, 10, 14, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store') / 'store'}") as opened:
        yield opened


@pytest.fixture
def store(shared_store):
    for table in ("day_seals", "seal_deliveries"):
        shared_store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
    return shared_store


def seal(store, *days, contract="acme-2026", after=()):
    """Seal days; return the bytes of each, what came before among them."""
    rows, contents = [], list(after)
    for number, day in enumerate(days, start=len(contents)):
        # what is sent is sent byte for byte, also where it ends in no newline and holds other scripts
        content = f'{{"day":"{day}","name":"汉字"}}\r\n  .\n..\n'.encode()
        previous = hashlib.sha256(contents[-1]).hexdigest() if contents else NO_HASH
        rows.append(
            (
                DaySealRow(
                    contract=contract, sequence=number + 1, day=day, revision=1, starts_at=DAY,
                    ends_at=DAY + timedelta(days=1), as_of=DAY + timedelta(days=2), rests_on="", previous=previous,
                    sha256=hashlib.sha256(content).hexdigest(),
                ),
                content,
            )
        )  # fmt: skip
        contents.append(content)
    keep_day_seals(store, rows)
    return contents


def carrier(*receivers, mail=None, allow=("127.0.0.1",)):
    return Carrier(
        receivers=receivers_of(
            SealsSection.model_validate({"receivers": list(receivers)}),
            MailSection.model_validate(mail or {}),
            WebhooksSection.model_validate({"allow_internal": list(allow)}),
            environment=ENVIRONMENT,
            now=lambda: datetime.now(UTC),
        ),
        random=lambda: 1.0,
    )


def by_mail(server, **changes):
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "sender": "fairclock@example.com",
        "tls": "none",
    } | changes


def hook(receiver, **changes):
    return {"name": "hook", "url": receiver.url(), "secret_env": "HOOK_SECRET"} | changes


def deliveries(store):
    return store.rows(
        Query(
            sql="SELECT destination, sequence, attempt, state FROM seal_deliveries ORDER BY sequence, attempt"
        )
    )


def now(store):
    return store.watermark()


def test_a_mail_brings_the_seals_byte_for_byte_once(store):
    contents = seal(store, "2026-10-14", "2026-10-15")
    with MailServer() as server:
        carried = carrier(MAIL, mail=by_mail(server))
        assert carried.carry(store, now(store)) == 2
        assert carried.carry(store, now(store)) == 0
        (mail,) = server.received
    assert mail.to == ["sla@acme.example", "audit@acme.example"]
    message = mail.message
    assert message["Subject"] == "Seals of acme-2026: 2026-10-14 – 2026-10-15"
    files = [(each.get_filename(), each.get_payload(decode=True)) for each in message.iter_attachments()]
    assert files == [
        ("acme-2026-2026-10-14.r1.seal.json", contents[0]),
        ("acme-2026-2026-10-15.r1.seal.json", contents[1]),
    ]
    text = message.get_body().get_content()
    assert all(hashlib.sha256(each).hexdigest() in text for each in contents)
    assert deliveries(store) == [("acme", 1, 1, "delivered"), ("acme", 2, 1, "delivered")]


def test_a_mail_is_in_the_receivers_language(store):
    seal(store, "2026-10-14")
    with MailServer() as server:
        carrier({**MAIL, "language": "zh"}, mail=by_mail(server)).carry(store, now(store))
        message = server.received[0].message
    assert message["Subject"] == "acme-2026 每日封存：2026-10-14"
    assert "修订 1" in message.get_body().get_content()


def test_a_webhook_brings_the_seals_signed_over_the_bytes_that_are_sent(store):
    contents = seal(store, "2026-10-14")
    with Receiver() as receiver:
        assert carrier(hook(receiver)).carry(store, now(store)) == 1
        (received,) = receiver.received
    tree = json.loads(received.body)
    assert tree["schema"] == "fairclock.day-seals/1"
    assert [each["content"].encode() for each in tree["seals"]] == contents
    assert [each["sha256"] for each in tree["seals"]] == [hashlib.sha256(contents[0]).hexdigest()]
    signed = received.headers["Fairclock-Timestamp"].encode() + b"." + received.body
    expected = hmac.new(b"shared", signed, hashlib.sha256).hexdigest()
    assert received.headers["Fairclock-Signature"] == f"v1={expected}"


def test_what_is_not_taken_is_tried_again_later_in_order_and_as_the_same_message(store):
    contents = seal(store, "2026-10-14")
    with Receiver((503, {}, b""), (200, {}, b"")) as receiver:
        carried = carrier(hook(receiver))
        begun = now(store)
        assert carried.carry(store, begun) == 0
        assert [each.value for each in carried.figures()] == [True]
        assert carried.carry(store, begun + timedelta(seconds=59)) == 0
        assert len(receiver.received) == 1
        assert carried.carry(store, begun + timedelta(seconds=61)) == 1
        assert [each.value for each in carried.figures()] == [False]
        first, second = receiver.received
        assert first.headers["Fairclock-Message-Id"] == second.headers["Fairclock-Message-Id"]
        seal(store, "2026-10-15", after=contents)
        assert carrier(hook(receiver)).carry(store, now(store)) == 1
    assert deliveries(store) == [
        ("hook", 1, 1, "failed"),
        ("hook", 1, 2, "delivered"),
        ("hook", 2, 1, "delivered"),
    ]


def test_a_seal_waits_behind_one_that_was_not_taken_and_the_pause_has_an_end(store):
    contents = seal(store, "2026-10-14")
    with Receiver((500, {}, b"")) as receiver:
        carried, at = carrier(hook(receiver)), now(store)
        carried.carry(store, at)
        seal(store, "2026-10-15", after=contents)
        assert carried.carry(store, at + timedelta(seconds=30)) == 0
        assert len(receiver.received) == 1
        for _ in range(20):
            at += timedelta(hours=1, seconds=1)
            carried.carry(store, at)
        assert len(receiver.received) == 21


def test_a_seal_that_nobody_takes_for_a_week_is_given_up(store):
    seal(store, "2026-10-14")
    with Receiver() as receiver:
        assert carrier(hook(receiver)).carry(store, now(store) + timedelta(days=7, seconds=1)) == 0
        assert receiver.received == []


def test_each_receiver_gets_the_seals_of_its_contracts(store):
    seal(store, "2026-10-14")
    seal(store, "2026-10-14", contract="bank-2026")
    with Receiver() as receiver:
        carrier(hook(receiver, contracts=["bank-*"])).carry(store, now(store))
        assert [json.loads(each.body)["contract"] for each in receiver.received] == ["bank-2026"]


def test_a_void_row_of_the_chain_is_never_sent(store):
    seal(store, "2026-10-14")
    seal(store, "2026-10-15")
    with Receiver() as receiver:
        assert carrier(hook(receiver)).carry(store, now(store)) == 1
        assert [each["day"] for each in json.loads(receiver.received[0].body)["seals"]] == ["2026-10-14"]


@pytest.mark.parametrize(
    ("changes", "refusals", "unknown", "problem"),
    [
        ({}, ["451 later"], (), "the server answers 451 later"),
        ({}, [], ("sla@acme.example", "audit@acme.example"), "the server takes mail for none of the addresses"),
        ({}, [], ("audit@acme.example",), "the server takes no mail for 1 of the addresses"),
        ({"port": 1}, [], (), "Connection refused"),
        ({"tls": "starttls"}, [], (), "STARTTLS extension not supported by server."),
    ],
    ids=["a server that takes nothing now", "addresses that it knows none of", "an address that it does not know",
         "nobody there", "a server without TLS"],
)  # fmt: skip
def test_a_mail_that_was_not_taken_by_all_is_not_delivered_and_says_why(
    store, changes, refusals, unknown, problem
):
    seal(store, "2026-10-14")
    with MailServer(refusals=refusals, unknown=unknown) as server:
        assert carrier(MAIL, mail=by_mail(server, **changes)).carry(store, now(store)) == 0
    said = store.rows(Query(sql="SELECT state, problem FROM seal_deliveries"))
    assert said == [("failed", problem)]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A certificate for 127.0.0.1, its server's context, and the file by which it is known."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.example")])
    begun = datetime.now(UTC) - timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begun)
        .not_valid_after(begun + timedelta(days=30))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path, private = folder / "ca.pem", folder / "key.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, private)
    return context, path


@pytest.mark.parametrize(
    ("password", "trusts", "problem"),
    [
        ("MAIL_PASSWORD", True, None),
        ("WRONG_PASSWORD", True, "the server answers 535 wrong password"),
        ("NOT_SET", True, "$NOT_SET: holds no secret; write the secret there"),
        ("MAIL_PASSWORD", False, "its certificate is not accepted (self-signed certificate)"),
    ],
    ids=["the right password", "a wrong one", "none", "a server that nobody vouches for"],
)
def test_a_password_goes_only_to_a_server_that_is_known_and_over_tls(
    store, authority, password, trusts, problem
):
    seal(store, "2026-10-14")
    context, ca = authority
    with MailServer(context=context) as server:
        login = {"tls": "starttls", "user": "fairclock", "password_env": password}
        carried = carrier(MAIL, mail=by_mail(server, **login, **({"ca": str(ca)} if trusts else {})))
        taken = carried.carry(store, now(store))
        received = [(each.user, each.is_secret) for each in server.received]
    assert (taken, received) == ((1, [("fairclock", True)]) if problem is None else (0, []))
    ((said,),) = store.rows(Query(sql="SELECT problem FROM seal_deliveries"))
    assert said == (problem or "")


def test_an_internal_address_is_not_posted_to_unless_it_is_allowed(store):
    seal(store, "2026-10-14")
    with Receiver() as receiver:
        carrier(hook(receiver), allow=()).carry(store, now(store))
        assert receiver.received == []


def test_mail_without_a_server_is_a_mistake_in_the_configuration():
    with pytest.raises(ConfigurationError, match=r"mail\.host: is missing"):
        carrier(MAIL)


@pytest.mark.parametrize(
    ("section", "tree", "problem"),
    [
        (SealsSection, {"receivers": [{"name": "a"}]}, "needs one of mail, url, url_env and url_file"),
        (SealsSection, {"receivers": [{"name": "a", "url": "https://a.example"}]}, "needs one of secret_env"),
        (SealsSection, {"receivers": [{"name": "a", "mail": ["a@b.example\nBcc: c@d.example"]}]}, "is no address"),
        (SealsSection, {"receivers": [{"name": "a b", "mail": ["a@b.example"]}]}, "is no name"),
        (SealsSection, {"receivers": [{"name": "a", "mail": ["a@b.example"]}] * 2}, "two receivers are called a"),
        (SealsSection, {"receivers": [{"name": "a", "url": "file:///etc/passwd", "secret_env": "S"}]}, "is not an address"),
        (MailSection, {"host": "mail.example"}, "needs both host and sender"),
        (MailSection, {"host": "mail.example", "sender": "a@b.example", "user": "a"}, "needs user with one of"),
        (MailSection, {"host": "m.example", "sender": "a@b.example", "tls": "none", "user": "a", "password_env": "P"},
         "would send the password without TLS"),
        (MailSection, {"host": "mail.example", "sender": "nobody"}, "is no address of mail"),
        (MailSection, {"host": "mail.example:25", "sender": "a@b.example"}, "is no name of a host"),
        (MailSection, {"password_env": "s3cret!"}, "is not the name of a variable"),
    ],
    ids=[
        "a receiver without a place", "an address without a secret", "an address that would add a line",
        "a name that is none", "two of one name", "an address of a file", "a host without a sender",
        "a user without a password", "a password without TLS", "a sender that is no address", "a port in the host",
        "a password in place of a name",
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(section, tree, problem):
    with pytest.raises(ValueError, match=problem):
        section.model_validate(tree)


def test_a_step_sends_in_a_thread_and_the_next_one_tells_what_went_wrong(store):
    seal(store, "2026-10-14")
    reached = []

    def away():
        if not reached:
            reached.append(None)
            raise StoreError("the store", "is away")
        return store

    with Receiver() as receiver:
        step = SealDeliveryStep(away, carrier(hook(receiver)))
        step.step(now(store))
        step._thread.join(120)
        with pytest.raises(StoreError, match="is away"):
            step.step(now(store))
        assert receiver.received == []
        step.step(now(store))
        step._thread.join(120)
        assert len(receiver.received) == 1

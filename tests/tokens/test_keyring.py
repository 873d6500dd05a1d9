"""Which token a text is, from a list that may be old, changing, or out of reach."""

import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fairclock.errors import StoreUnreachable, UsageError
from fairclock.store.tokens import Keyring, Scope, mint

NOW = datetime(2026, 10, 1, tzinfo=UTC)
AWAY = StoreUnreachable("store", "nobody answers")


def good_token(**changes):
    return mint(**{"name": "gw-1", "scope": Scope.COLLECTOR, "tenant": "", "now": NOW, **changes})


class Listed:
    """A list of tokens, how often it was read, and a clock."""

    def __init__(self, *tokens):
        self.tokens = list(tokens)
        self.reads = 0
        self.now = 1000.0
        self.keyring = Keyring(self.read, monotonic=lambda: self.now)

    def read(self):
        self.reads += 1
        if isinstance(self.tokens, Exception):
            raise self.tokens
        return self.tokens


def test_a_token_is_known_by_its_text_and_kept_as_a_hash():
    text, token = good_token()
    assert Listed(token).keyring.find(text) == token
    assert text not in repr(token)
    assert text.split("_", 2)[2] not in repr(token)
    assert len(token.sha256) == 64


def test_tokens_are_long_and_never_the_same():
    texts = {good_token()[0] for _ in range(100)}
    assert len(texts) == 100
    assert {len(text) for text in texts} == {len("fct_") + 8 + 1 + 43}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1] + ("A" if text[-1] != "A" else "B"),
        lambda text: text[:-1],
        lambda text: text + "A",
        lambda text: text.upper(),
        lambda text: text.replace("fct_", ""),
        lambda text: text[:13] + "A" * 43,
        lambda text: f"fct_00000000_{text[13:]}",
        lambda _: "",
        lambda _: "fct_'; DROP TABLE tokens",
        lambda _: "日本語",
    ],
)
def test_what_is_not_exactly_a_token_is_none(change):
    text, token = good_token()
    assert Listed(token).keyring.find(change(text)) is None


def test_a_revoked_token_is_none_within_seconds():
    text, token = good_token()
    listed = Listed(token)
    assert listed.keyring.find(text) == token
    listed.tokens = [replace(token, revoked_at=NOW)]
    listed.now += 4.9
    assert listed.keyring.find(text) == token
    listed.now += 0.2
    assert listed.keyring.find(text) is None


def test_a_new_token_is_known_at_once_and_guesses_do_not_read_the_list_each_time():
    listed = Listed()
    text, token = good_token()
    assert listed.keyring.find(text) is None
    listed.tokens = [token]
    listed.now += 1.0
    assert listed.keyring.find(text) == token
    listed.reads = 0
    for _ in range(100):
        assert listed.keyring.find(good_token()[0]) is None
    assert listed.reads == 0
    for _ in range(100):
        listed.now += 0.1
        listed.keyring.find(good_token()[0])
    assert listed.reads <= 10


def test_a_list_that_cannot_be_read_holds_as_it_was_and_is_not_tried_each_time(caplog):
    text, token = good_token()
    listed = Listed(token)
    listed.keyring.find(text)
    listed.tokens, listed.reads = AWAY, 0
    listed.now += 3600
    for _ in range(50):
        listed.now += 0.1
        assert listed.keyring.find(text) == token
    assert listed.reads == 1
    assert [record.getMessage() for record in caplog.records] == [
        "tokens are known as they were last read: store: nobody answers"
    ]
    listed.tokens = [replace(token, revoked_at=NOW)]
    listed.now += 15
    assert listed.keyring.find(text) is None


def test_without_a_list_nobody_is_known_and_that_is_an_error():
    listed = Listed()
    listed.tokens = AWAY
    for _ in range(20):
        with pytest.raises(StoreUnreachable):
            listed.keyring.find(good_token()[0])
    assert listed.reads == 1
    text, token = good_token()
    listed.tokens = [token]
    listed.now += 2
    assert listed.keyring.find(text) == token


def test_one_thread_reads_and_the_others_do_not_wait_for_it():
    text, token = good_token()
    reading, go_on = threading.Event(), threading.Event()

    def read():
        if listed.reads:
            reading.set()
            assert go_on.wait(60)
        listed.reads += 1
        return [token]

    listed = Listed()
    keyring = Keyring(read, monotonic=lambda: listed.now)
    assert keyring.find(text) == token
    listed.now += 60
    slow = threading.Thread(target=keyring.find, args=[text])
    slow.start()
    assert reading.wait(60)
    assert keyring.find(text) == token
    go_on.set()
    slow.join()
    assert listed.reads == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": " "}, r"--name: is no name"),
        ({"name": "a\nb"}, r"--name: is no name"),
        ({"name": "x" * 101}, r"--name: is no name"),
        ({"scope": Scope.TENANT}, r"--tenant: is missing; name the tenant"),
        ({"tenant": "acme"}, r"--tenant: has no effect with the scope collector; leave it out"),
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(changes, said):
    with pytest.raises(UsageError, match=said):
        good_token(**changes)

"""``fairclock alerts`` as a command on a real store: what is listed, samples that arrive or do not, silences."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from exporters.webhooks.outbox import Entry, Fate
from exporters.webhooks.store_outbox import StoreOutbox
from fairclock.cli import _root
from tests.webhooks.factories import NOW, SECRET, good_event
from tests.webhooks.receiver import Receiver


@pytest.fixture
def alerts(store, tmp_path, monkeypatch):
    """Run the command beside the store that is open already; the configuration is what `write` says."""
    for name in ("FAIRCLOCK_CONFIG", "FAIRCLOCK_TO"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fairclock.cli.alerts.open_store", lambda dsn: Borrowed(store))

    def run(*words, code=0):
        result = CliRunner().invoke(_root, ["alerts", *words], standalone_mode=False)
        if result.exception is not None:
            assert getattr(result.exception, "exit_code", None) == code, result.exception
            return str(result.exception)
        assert (result.return_value or 0) == code, result.output
        return result.stdout

    return run


class Borrowed:
    def __init__(self, store):
        self.store = store

    def __enter__(self):
        return self.store

    def __exit__(self, *what):
        pass


@pytest.fixture
def told(outbox):
    """An alert that was told and resolved, one that does not get through, and one that nobody wants."""
    late = good_event(1, alert_id="late", seconds=60)
    over = good_event(2, "resolved", seconds=90)
    nobody = good_event(1, "frozen", alert_id="nobody", seconds=120)
    outbox.keep([good_event(), over, late, nobody])
    there = Entry(destination="there", event=good_event(), fate=Fate.DELIVERED, attempt=1, http_status=200)
    failed = Entry(
        destination="there", event=late, fate=Fate.FAILED, version=3, attempt=2, http_status=503,
        problem="HTTP 503", retry_at=NOW + timedelta(seconds=70),
    )  # fmt: skip
    rows = [
        there,
        replace(there, event=over),
        failed,
        Entry(destination="", event=nobody, fate=Fate.UNWANTED),
    ]
    outbox.write(rows, now=NOW)
    return outbox


def test_nothing_is_a_list_of_nothing(alerts, store):
    assert alerts("list") == ""
    assert json.loads(alerts("list", "--json")) == {"alerts": [], "silences": []}


def test_the_list_has_each_alerts_last_change_and_its_deliveries(alerts, told):
    assert alerts("list").splitlines() == [
        "2026-10-07T03:01:00Z  firing    critical  late #1",
        "    there: failed after 2 attempts, again at 2026-10-07T03:01:10Z: HTTP 503",
        "2026-10-07T03:01:30Z  resolved  critical  acme-2026/p99/fast-burn #2",
        "    there: delivered after 1 attempt",
        "2026-10-07T03:02:00Z  frozen    critical  nobody #1",
    ]
    assert "acme-2026/p99/fast-burn #1" in alerts("list", "--all")


def test_a_program_may_read_the_list(alerts, told):
    late, over, nobody = json.loads(alerts("list", "--json"))["alerts"]
    assert (late["state"], late["event_id"]) == ("firing", good_event(alert_id="late").event_id)
    (delivery,) = late["deliveries"]
    assert (delivery["delivery"], delivery["http_status"], delivery["retry_at"]) == (
        "failed", 503, "2026-10-07T03:01:10Z",
    )  # fmt: skip
    assert (over["sequence"], nobody["deliveries"]) == (2, [])


def write(tmp_path, *destinations):
    (tmp_path / "fairclock.yaml").write_text(
        json.dumps({"webhooks": {"destinations": destinations, "allow_internal": ["127.0.0.1"]}})
    )


def test_a_sample_goes_to_every_destination_and_one_that_fails_is_said(alerts, tmp_path, monkeypatch, store):
    monkeypatch.setenv("S", SECRET)
    with Receiver((200, {}, b"")) as one, Receiver((503, {}, b"")) as other:
        monkeypatch.setenv("U", other.url(path=f"/{SECRET}"))
        write(
            tmp_path,
            {"name": "one", "format": "json", "url": one.url(), "secret_env": "S"},
            {"name": "other", "format": "slack", "url_env": "U", "language": "zh"},
        )
        assert alerts("test", code=2) == "one: delivered (HTTP 200)\nother: failed: HTTP 503\n"
        assert alerts("test", "one") == "one: delivered (HTTP 200)\n"
        assert (len(one.received), len(other.received)) == (2, 1)
        events = [json.loads(each.body)["events"][0] for each in one.received]
        assert "测试" in other.received[0].body.decode()
    assert all(event["is_test"] and event["title"].startswith("[TEST]") for event in events)
    assert events[0]["event_id"] != events[1]["event_id"]
    listed = json.loads(alerts("list", "--json"))["alerts"]
    assert sorted(each["deliveries"][0]["delivery"] for each in listed) == ["dead", "delivered", "delivered"]
    assert not StoreOutbox(store).read().unrouted
    assert SECRET not in alerts("list", "--all", "--json")


def test_a_service_that_keeps_alerts_open_gets_the_resolution_of_the_sample(
    alerts, tmp_path, monkeypatch, store
):
    monkeypatch.setenv("S", SECRET)
    with Receiver((202, {}, b"{}")) as receiver:
        write(tmp_path, {"name": "on-call", "format": "pagerduty", "url": receiver.url(), "secret_env": "S"})
        (result,) = json.loads(alerts("test", "--json"))
        fired, over = (json.loads(each.body) for each in receiver.received)
    assert result["delivered"] is True
    assert (fired["event_action"], over["event_action"]) == ("trigger", "resolve")
    assert fired["dedup_key"] == over["dedup_key"]


def test_a_sample_without_a_destination_is_refused(alerts, tmp_path):
    assert "webhooks.destinations: there is none" in alerts("test", code=2)
    write(tmp_path, {"name": "one", "format": "slack", "url_env": "U"})
    assert alerts("test", "two", code=2) == "two: no destination is called so; name one of one"
    assert "$U: holds no secret" in alerts("test", code=2)


def test_a_silence_is_made_listed_and_ended(alerts, outbox):
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="seconds")
    words = ["--match", "contract=acme*", "--match", "severity=warning", "--to", until]
    made = alerts("silence", *words, "--author", "ada", "--reason", "upgrade").strip()
    assert re.fullmatch(r"[0-9a-f]{8}", made)
    (listed,) = alerts("list").splitlines()
    assert listed.startswith(f"{made}  silent from ")
    assert listed.endswith("contract=acme* severity=warning (ada: upgrade)")
    (tree,) = json.loads(alerts("list", "--json"))["silences"]
    assert (tree["matchers"], tree["author"]) == (["contract=acme*", "severity=warning"], "ada")
    alerts("unsilence", made)
    assert alerts("list") == ""
    assert "no silence that is not over has this id" in alerts("unsilence", made, code=2)
    assert len(outbox.every_silence()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "2099-01-01T00:00:00Z"], "--match: is missing"),
        (["--match", "rule=*", "--to", "2001-01-01T00:00:00Z"], "--to: is not after --from"),
        (["--match", "rule=*", "--to", "2099-01-01T00:00:00"], "the instant has no zone"),
    ],
)
def test_a_silence_that_cannot_be_is_refused(alerts, store, words, said):
    assert said in alerts("silence", *words, "--author", "a", "--reason", "r", code=2)

"""The section ``webhooks``: what it takes, and what it says of what it does not, without showing a secret."""

from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from exporters.webhooks.destination import destinations
from exporters.webhooks.event import Severity
from fairclock.cli.configuration import Configuration
from fairclock.config import parse_configuration
from fairclock.errors import ConfigurationError
from tests.webhooks.factories import NOW, SECRET

HERE = Path("/srv/fairclock")


def read(text):
    return parse_configuration(text.encode(), Configuration, where="fairclock.yaml", folder=HERE).webhooks


def test_every_key_is_read():
    given = read("""
webhooks:
  destinations:
    - {name: on-call, format: pagerduty, secret_file: key, severities: [critical, warning]}
    - {name: portal, format: json, url: 'https://portal.example/x', secret_env: S, contracts: [acme*], language: zh, templates: own}
  allow_internal: [hooks.internal]
  ca: ca.pem
  group_wait: 5s
  hold_down: 2min
  give_up: 12h
  time_zone: Asia/Shanghai
  link: https://fairclock.example
  quiet_hours: {begin: 22:00, end: "7:30", time_zone: Europe/Berlin, let_through: [critical, warning]}
""")
    first, second = given.destinations
    assert (first.secret_file, first.severities) == (HERE / "key", (Severity.CRITICAL, Severity.WARNING))
    assert (second.url, second.contracts, second.language) == ("https://portal.example/x", ("acme*",), "zh")
    assert (given.group_wait, given.hold_down, given.give_up) == (5.0, 120.0, 43_200.0)
    assert (given.ca, given.time_zone, second.templates) == (
        HERE / "ca.pem",
        ZoneInfo("Asia/Shanghai"),
        HERE / "own",
    )
    hours = given.quiet_hours
    assert (hours.begin, hours.end, hours.time_zone) == (time(22), time(7, 30), ZoneInfo("Europe/Berlin"))
    assert hours.let_through == (Severity.CRITICAL, Severity.WARNING)


def one(**keys):
    body = ", ".join(f"{name}: {value}" for name, value in {"name": "x", **keys}.items())
    return f"webhooks: {{destinations: [{{{body}}}]}}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (one(format="slack", url=f"'https://hooks.example/{SECRET}'"), "so it is a secret"),
        (one(format="json", url=f"'https://user:{SECRET}@x.example/'", secret_env="S"), "holds a user"),
        (one(format="json", url=f"'{SECRET}'", secret_env="S"), "is not an address of HTTP"),
        (one(format="json", url="'https://x.example'"), "needs one of secret_env and secret_file"),
        (
            one(format="json", url="'https://x.example'", secret_env="S", secret_file="s"),
            "needs one of secret",
        ),
        (one(format="json", secret_env="S"), "needs one of url, url_env and url_file"),
        (one(format="slack", url_env="U", url_file="u"), "needs one of url, url_env and url_file"),
        (one(format="wecom", url_env="U", secret_env="S"), "wecom knows no secret beside its address"),
        (one(format="slack", url_env=f"'https://hooks.example/{SECRET}'"), "is not the name of a variable"),
        (one(format="json", url="'https://x.example'", secret=SECRET), "did you mean secret_env?"),
        (one(format="fax", url_env="U"), "is none of its choices (fax)"),
        (one(format="slack", url_env="U", name="'a b'"), "is no name (a b)"),
        (one(format="slack", url_env="U", severities="[loud]"), "webhooks.destinations[0].severities[0]"),
        ("webhooks: {quiet_hours: {begin: 22:00}}", "need both begin and end"),
        ("webhooks: {quiet_hours: {begin: 22:00, end: 22:00}}", "end when they begin"),
        ("webhooks: {quiet_hours: {begin: 24:00, end: 7:00}}", "is not a time of day (24:00)"),
        ("webhooks: {time_zone: Moon/Sea}", "is not a time zone (Moon/Sea)"),
        ("webhooks: {link: there}", "is not an address of HTTP (there)"),
        ("webhooks: {hold_down: long}", "is not a duration (long)"),
    ],
)
def test_what_is_wrong_is_said_and_no_secret_is_shown(text, said):
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    assert said in str(caught.value)
    assert SECRET not in str(caught.value)


def test_two_destinations_of_one_name_are_refused():
    place = "{name: x, format: slack, url_env: U}"
    with pytest.raises(ConfigurationError, match="two destinations are called x"):
        read(f"webhooks: {{destinations: [{place}, {place}]}}")


def test_no_representation_shows_an_address():
    given = read(one(format="json", url=f"'https://x.example/?key={SECRET}'", secret_env="S"))
    assert SECRET not in repr(given)
    (place,) = destinations(given, environment={"S": SECRET}, now=lambda: NOW)
    assert SECRET not in repr(vars(place)["_section"])


@pytest.mark.parametrize(
    "key", ["json", "slack", "teams", "dingtalk", "feishu", "wecom", "pagerduty", "alertmanager"]
)
def test_every_format_can_be_configured(key):
    needs = {"slack", "teams", "wecom", "alertmanager"}
    secret = {} if key in needs else {"secret_env": "S"}
    assert read(one(format=key, url_env="U", **secret)).destinations[0].format == key

"""Whose request it is: key, certificate, the log's word, path; a file of keys that is read again, and kept quiet about."""

import hashlib
import logging

import pytest
from pydantic import ValidationError

from collectors.gateway.formats import canonical_lines, format_of
from collectors.gateway.tenants import KeyFile, TenantSection, tenancy_of
from collectors.gateway.tenants.tenancy import common_name
from fairclock.errors import ConfigurationError

KEY = "sk-live-2f9c1d"
ACME = hashlib.sha256(KEY.encode()).hexdigest()


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text(f"# of acme\n{ACME}: acme\n")
    return path


def tenancy(keys=None, **section):
    return tenancy_of(
        TenantSection.model_validate({"keys": keys and str(keys), **section}), monotonic=Clock()
    )


@pytest.mark.parametrize(
    ("fields", "tenant"),
    [
        pytest.param({"api_key": KEY}, "acme", id="a key"),
        pytest.param({"api_key": f"Bearer {KEY}"}, "acme", id="a key with its scheme"),
        pytest.param({"api_key_sha256": ACME.upper()}, "acme", id="a key's hash, in capitals"),
        pytest.param({"api_key": "other"}, "", id="a key of nobody"),
        pytest.param({"api_key": "-", "tenant": "x"}, "", id="no key: what the line says stands"),
        pytest.param({"api_key": KEY, "tenant": "globex", "client_subject": "CN=globex"}, "acme", id="a key before all else"),
        pytest.param({"client_subject": "CN=globex,O=Globex", "tenant": "x"}, "globex", id="a certificate before the line's word"),
        pytest.param({"client_subject": "emailAddress=a@b,CN=elsewhere"}, "mail", id="a whole subject"),
        pytest.param({"client_subject": "O=x\\,CN=globex"}, "", id="a comma that is part of a name"),
        pytest.param({"client_subject": "CN=globex,CN=acme"}, "", id="two names"),
        pytest.param({"uri": "/acme/v1/chat"}, "of-path", id="a path below a prefix"),
        pytest.param({"uri": "/acme"}, "of-path", id="the prefix itself"),
        pytest.param({"uri": "/acmeinc/v1"}, "", id="a longer name"),
        pytest.param({"uri": "/t/initech/v1?u=/acme/"}, "t-initech", id="a part of the path"),
        pytest.param({"uri": "/acme/v1", "tenant": "globex"}, "", id="the line's word before the path"),
    ],
)  # fmt: skip
def test_the_first_that_knows_decides(keys, fields, tenant):
    told = tenancy(
        keys,
        certificates=[{"common_name": "globex", "tenant": "globex"}, {"subject": "emailAddress=a@b,CN=elsewhere", "tenant": "mail"}],
        routes=[{"prefix": "/acme/", "tenant": "of-path"}, {"matches": "^/t/([a-z]+)/", "tenant": r"t-\1"}],
    )  # fmt: skip
    assert told(fields) == tenant


def test_where_nothing_is_mapped_nobody_asks():
    assert tenancy() is None


def test_a_file_that_changes_is_read_again_within_a_second(keys, clock, caplog):
    known = KeyFile(keys, monotonic=clock)
    keys.write_text(f"{ACME}: globex\n")
    assert known.tenant_of_key(KEY) == "acme"
    clock.seconds = 1.0
    with caplog.at_level(logging.INFO):
        assert known.tenant_of_key(KEY) == "globex"
    assert "was read again: 1 keys" in caplog.text


@pytest.mark.parametrize(
    "content",
    [f"{KEY}: globex\n", "not yaml: [", f"{ACME}: \n", "\x00", f"{ACME}: {{a: b}}\n"],
    ids=["a key itself", "no YAML", "no tenant", "binary", "a tenant that is none"],
)
def test_while_the_file_is_wrong_what_it_said_holds_and_no_key_is_shown(keys, clock, caplog, content):
    known = KeyFile(keys, monotonic=clock)
    keys.write_text(content)
    for seconds in (1.0, 2.0, 3.0):
        clock.seconds = seconds
        assert known.tenant_of_key(KEY) == "acme"
    assert len(caplog.records) == 1
    assert "the tenants that it named before hold" in caplog.text
    assert KEY not in caplog.text
    keys.unlink()
    clock.seconds = 4.0
    assert known.tenant_of_key(KEY) == "acme"
    keys.write_text(f"{ACME}: globex\n")
    clock.seconds = 5.0
    assert known.tenant_of_key(KEY) == "globex"


def test_at_the_start_a_wrong_file_is_refused_without_showing_it(tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text(f"a: b\n{KEY}: acme\n")
    with pytest.raises(ConfigurationError) as refused:
        tenancy(path)
    assert "line 1 is no SHA-256 of a key with a tenant" in str(refused.value)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        tenancy(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"routes": [{"tenant": "a"}]}, "needs either prefix or matches"),
        ({"routes": [{"prefix": "/a", "matches": "b", "tenant": "a"}]}, "needs either prefix or matches"),
        ({"routes": [{"prefix": "a", "tenant": "a"}]}, "does not begin with a slash"),
        ({"routes": [{"matches": "(", "tenant": "a"}]}, "is no regular expression"),
        ({"routes": [{"matches": "a", "tenant": r"\1"}]}, "names a group that it lacks"),
        ({"certificates": [{"tenant": "a"}]}, "needs either subject or common_name"),
    ],
    ids=["no path", "two paths", "no slash", "no expression", "no group", "no certificate"],
)
def test_a_mapping_that_cannot_be_is_refused(section, message):
    with pytest.raises(ValidationError) as refused:
        TenantSection.model_validate(section)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("CN=acme,O=Acme", "acme"),
        ("O=Acme, CN = acme ", "acme"),
        (r"CN=Acme\, Inc,C=CN", "Acme, Inc"),
        ("/C=CN/CN=acme", ""),
        ("", ""),
        ("CN", ""),
    ],
)
def test_a_common_name_is_read_as_rfc_2253_writes_it(subject, name):
    assert common_name(subject) == name


def test_keys_and_subjects_end_at_the_adapter(keys):
    form = format_of('nginx:$msec $status $request_time "$http_authorization" "$ssl_client_s_dn"')
    line = f'1796025600.123 200 0.450 "Bearer {KEY}" "CN=globex"'.encode()
    for told in (tenancy(keys), None):
        (made,) = canonical_lines(form, [line], tenancy=told)
        assert KEY.encode() not in made
        assert ACME.encode() not in made
        assert b"globex" not in made
        assert (b'"tenant":"acme"' in made) == (told is not None)


@pytest.mark.parametrize("key", ["authorization", "http_authorization"])
def test_the_shipped_json_may_hold_the_header(keys, key):
    line = f'{{"time":"1796025600.123","{key}":"Bearer {KEY}"}}'.encode()
    (made,) = canonical_lines(format_of("nginx-json"), [line], tenancy=tenancy(keys))
    assert made == b'{"of_tenant":"acme"}' + line

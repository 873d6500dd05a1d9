"""What holds for every format: nothing breaks a reader, no line costs its neighbours, no content gets out."""

import json
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.formats import AUTO, FORMATS, FormatChoice, canonical_lines, format_of
from collectors.gateway.formats.times import us_of_seconds
from collectors.gateway.tailing.event_times import event_times
from collectors.gateway.tenants import TenantSection, tenancy_of
from collectors.lines import LineSplitter
from fairclock.errors import ConfigurationError, InputError
from tests.gateways.reading import FIXTURES, lines_of, mutated, read_or_refused

NAMES = sorted(path.stem for path in FIXTURES.glob("*.log"))
SHIPPED = (
    b'{"time":"1796025600.100","request_id":"a","uri":"/v1/x?key=1","status":"200","request_time":"0.500"}'
)
SECRETS = (b"hunter2", b"sk-live-1", b"anna@example.com")


def lines(name):
    return [SHIPPED] if name == "nginx-json" else lines_of(name)


def test_every_format_has_a_fixture_but_the_two_that_are_anybodys_own():
    assert set(FORMATS) - set(NAMES) == {"nginx", "nginx-json"}


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_is_recognised_as_what_it_is_with_a_reason(name):
    detected = FormatChoice(AUTO).of(lines_of(name), where="x")
    assert (detected.form.full_name, detected.certain) == (name, True)
    assert detected.why.split()[0] in {"it", "its", "behind"} or len(detected.why) > 10
    assert format_of(detected.form.full_name) is detected.form


@pytest.mark.parametrize("name", NAMES)
def test_every_line_becomes_one_canonical_line_with_the_raw_lines_hash(name):
    raw = lines_of(name)
    canonical = canonical_lines(format_of(name), raw)
    assert len(canonical) == len(raw)
    for line, made in zip(raw, canonical, strict=True):
        if made:
            fields = json.loads(made)
            assert made.startswith(b'{"line_hash":"')
            assert fields["line_hash"] == blake2b(line, digest_size=16).hexdigest()
            assert all(isinstance(value, str) for value in fields.values())
            assert "?" not in fields.get("uri", "")


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_whatever_a_line_holds_its_time_is_the_one_it_is_read_with(name, data):
    line = data.draw(mutated(lines_of(name)) | st.binary(max_size=200) | st.sampled_from(lines_of(name)))
    read_or_refused(name, line)
    form = format_of(name)
    (canonical,) = canonical_lines(form, [line])
    said = json.loads(canonical).get("time") if canonical else None
    if said is not None:
        assert form.ended_us(line) == us_of_seconds(said)
    times = event_times([line], form)
    assert (times.buckets[0] is None) == (times.times_us[0] is None)


@pytest.mark.parametrize("name", [*NAMES, "nginx-json"])
@given(data=st.data())
def test_no_line_costs_its_neighbours(name, data):
    good = lines(name)[0]
    hostile = data.draw(mutated(lines(name)) | st.binary(max_size=200)).replace(b"\n", b"")
    splitter = LineSplitter()
    cut = splitter.feed(b"\n".join([good, hostile, good]) + b"\n") + splitter.finish()
    form = format_of(name)
    made = canonical_lines(form, cut)
    (alone,) = canonical_lines(form, [good])
    assert made[0] == made[-1] == alone
    assert all(b"\n" not in each for each in made)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nginx-json"])
@given(data=st.data())
def test_a_dead_letter_shows_a_shape_and_no_content(name, data):
    secret = data.draw(st.sampled_from(SECRETS))
    place = data.draw(st.sampled_from([b"%s", b"{%s", b'"%s"', b"%s - - [", b"/x?key=%s HTTP"]))
    line = place % secret
    (made,) = canonical_lines(format_of(name), [line])
    assert secret not in made
    if made:
        fields = json.loads(made)
        assert set(fields) == {"line_hash", "bad", "excerpt"}
        assert set(fields["excerpt"]) <= set("x0 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(
            b"[repeated more than 65,535 times] x", "repeated more than 65,535 times", id="too often"
        ),
        pytest.param(b"x" * 1000 + b" [cut: the line is too long]", "longer than 1 MiB", id="too long"),
    ],
)
def test_what_was_cut_says_so(line, reason):
    (made,) = canonical_lines(format_of("envoy"), [line])
    assert json.loads(made)["bad"] == reason


def test_blank_lines_and_the_shipped_json_are_left_as_they_are():
    assert canonical_lines(format_of("envoy"), [b"", b"  \t"]) == [b"", b""]
    assert canonical_lines(format_of("nginx-json"), [SHIPPED, b"", b"bad"]) == [SHIPPED, b"", b"bad"]


# Which format it is


def test_a_log_that_may_be_in_two_formats_is_refused_and_both_are_named():
    with pytest.raises(InputError) as refused:
        FormatChoice().of([*lines_of("envoy"), SHIPPED], where="access.log")
    assert str(refused.value).startswith(
        "access.log: more than one format is possible (Envoy's default text format, for "
    )
    assert str(refused.value).endswith("; name one: --format envoy or nginx-json")


@pytest.mark.parametrize(
    "before",
    [[], [b"", b"garbage", b"\x00\xff"], [b"x"] * 900],
    ids=["nothing", "garbage", "much garbage"],
)
def test_what_is_no_line_of_any_format_does_not_confuse(before):
    assert FormatChoice().of([*before, *lines_of("istio")], where="x").form.name == "istio"


def test_where_nothing_is_recognised_nothing_is_certain():
    detected = FormatChoice().of([b"prose", b"more"], where="x")
    assert (detected.form.name, detected.certain) == ("nginx-json", False)


def test_a_name_is_believed():
    assert FormatChoice("envoy").of([SHIPPED], where="x").form.name == "envoy"


@pytest.mark.parametrize("name", ["apache", "", "envoy:x", "ingress-nginx:$msec"])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ConfigurationError, match=r"gateway\.format"):
        FormatChoice(name)


# Tenants do not change what a line is


@pytest.mark.parametrize("name", [*NAMES, "nginx-json"])
def test_a_tenant_is_told_and_the_line_stays_itself(name):
    form = format_of(name)
    tenancy = tenancy_of(TenantSection.model_validate({"routes": [{"prefix": "/", "tenant": 'ac}me "1"'}]}))
    for line, before, after in zip(
        lines(name),
        canonical_lines(form, lines(name)),
        canonical_lines(form, lines(name), tenancy=tenancy),
        strict=True,
    ):
        if form.passes_through:
            assert after == b'{"of_tenant":"ac\\u007dme \\u00221\\u0022"}' + line
        elif before:
            was, now = json.loads(before), json.loads(after)
            assert now["line_hash"] == was["line_hash"]
            told = {"tenant": 'ac}me "1"'} if was.get("uri") and was.get("tenant", "-") in {"", "-"} else {}
            assert now == was | told

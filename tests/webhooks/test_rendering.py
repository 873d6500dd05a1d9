"""The words of messages: the shipped ones, a customer's own, and what a template may not do."""

from zoneinfo import ZoneInfo

import pytest

from exporters.webhooks.rendering import Renderer
from exporters.webhooks.text import cut, cut_bytes, plain
from tests.webhooks.factories import good_event


def renderer(own=None, **changes):
    return Renderer(**{"language": "en", "escape": plain, "zone": ZoneInfo("UTC"), "own": own, **changes})


def test_a_title_of_ones_own_takes_the_place_of_the_shipped_one_and_the_body_stays(tmp_path):
    (tmp_path / "title.txt").write_text(
        "{{ contract_id }} is {{ state }}, {{ queue_share_ratio | percent }} queued"
    )
    text = renderer(tmp_path).render([good_event()])
    assert text.title == "acme-2026 is firing, 71.0% queued"
    assert text.whole == renderer().render([good_event()]).whole


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{{ nothing }}", id="a name that there is not"),
        pytest.param("{% if %}", id="no template"),
        pytest.param("{{ ''.__class__.__mro__[1].__subclasses__() }}", id="out of the sandbox"),
        pytest.param("{{ tenants.append('x') }}", id="a change"),
        pytest.param("{% for i in range(10 ** 9) %}x{% endfor %}", id="without an end"),
        pytest.param("{% include '/etc/passwd' %}", id="a file of the machine"),
        pytest.param("{{ 1 / 0 }}", id="no number"),
    ],
)
def test_a_template_that_fails_gives_way_to_the_shipped_one(tmp_path, caplog, template):
    (tmp_path / "title.txt").write_text(template)
    assert renderer(tmp_path).render([good_event()]) == renderer().render([good_event()])
    assert "title.txt: the template fails" in caplog.text


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.0, "0.0%"),
        (1.0, "100.0%"),
        (0.9991, "99.9%"),
        (0.99999, "99.999%"),
        (0.00004, "0.004%"),
        (-0.5, "-50.0%"),
        (1.7, "170.0%"),
    ],
)
def test_a_share_does_not_seem_to_be_nothing_or_all(tmp_path, ratio, said):
    (tmp_path / "title.txt").write_text("{{ coverage_ratio | percent }}")
    assert float(renderer(tmp_path).render([good_event(coverage_ratio=ratio)]).title[:-1]) == pytest.approx(
        float(said[:-1]), abs=1e-3
    )
    assert (renderer(tmp_path).render([good_event(coverage_ratio=ratio)]).title in {"0.0%", "100.0%"}) is (
        ratio in {0, 1}
    )


@pytest.mark.parametrize(
    ("seconds", "language", "said"),
    [
        (8.4, "en", "8 s"),
        (95, "en", "2 min"),
        (7_260, "en", "2 h 1 min"),
        (95, "zh", "2 分"),
        (8, "zh", "8 秒"),
    ],
)
def test_an_age_in_words(tmp_path, seconds, language, said):
    (tmp_path / "title.txt").write_text("{{ data_age_seconds | duration }}")
    made = renderer(tmp_path, language=language).render([good_event(data_age_seconds=seconds)])
    assert made.title == said


def test_cutting_leaves_whole_characters_and_entities():
    assert cut("abc", 3) == "abc"
    assert cut("ab&amp;cd", 6) == "ab…"
    assert cut_bytes("界界界", 9) == "界界界"
    assert cut_bytes("界界界界", 9) == "界界…"

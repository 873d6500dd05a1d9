"""The scraper as a whole: real engines, real connections, frames as a spool would get them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from collectors.vllm_metrics.configuration import DnsSection, TargetSection, VllmSection
from collectors.vllm_metrics.frames import Scrape, decode
from collectors.vllm_metrics.scraping.finding import TargetFinder
from collectors.vllm_metrics.scraping.scraper import Scraper, phase
from collectors.vllm_metrics.scraping.targets import Defaults, Target
from fairclock.errors import ConfigurationError, SpoolFull
from tests.vllm_scraping.conftest import METRICS, answering, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fairclock.model import Frame
    from tests.vllm_scraping.conftest import Engine


_PATIENT = [60.0] * 9


class Kept:
    """What was delivered; `refusing` is raised in its place."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.refusing: Exception | None = None
        self.refused = 0

    def __call__(self, frames: Sequence[Frame], /) -> None:
        if self.refusing is not None:
            self.refused += 1
            raise self.refusing
        self.frames.extend(frames)

    def scrapes(self, target: str | None = None) -> list[Scrape]:
        return [
            scrape
            for frame in self.frames
            if (scrape := decode(frame.payload)).target == target or target is None
        ]


@pytest.fixture
def kept() -> Kept:
    return Kept()


def section(*engines: Engine, interval: float = 0.1, **changes: Any) -> VllmSection:
    targets = tuple(
        TargetSection(url=each.url, name=f"engine-{number}") for number, each in enumerate(engines)
    )
    return VllmSection(interval=interval, timeout=interval, targets=targets, **changes)


def scraper_of(settings: VllmSection, kept: Kept) -> Scraper:
    return Scraper(TargetFinder(settings), kept, source="vllm", look_every_seconds=0.02)


class Listed:
    """Find what is listed: engines asked ten times a second, with all the time in the world to answer."""

    def __init__(self, *engines: Engine, timeouts_seconds: Sequence[float] = ()) -> None:
        self._targets = [
            Target(name=f"engine-{number}", url=each.url, interval_seconds=0.1, timeout_seconds=timeout)
            for number, (each, timeout) in enumerate(
                zip(engines, [*timeouts_seconds, *_PATIENT], strict=False)
            )
        ]

    async def find(self) -> list[Target]:
        return self._targets

    def problems(self) -> tuple[tuple[str, str], ...]:
        return ()


def patient_scraper(kept: Kept, *engines: Engine, timeouts_seconds: Sequence[float] = ()) -> Scraper:
    finder = Listed(*engines, timeouts_seconds=timeouts_seconds)
    return Scraper(finder, kept, source="vllm", look_every_seconds=0.02)


def test_every_engine_is_asked_again_and_again(make_engine: Callable[..., Engine], kept: Kept) -> None:
    engines = [make_engine(), make_engine(answering(b"x 1\n", packed=True))]
    with patient_scraper(kept, *engines) as scraper:
        eventually(lambda: all(len(kept.scrapes(f"engine-{number}")) >= 3 for number in (0, 1)))
        assert scraper.is_alive
        up = scraper.statistics().targets
    assert [(each.name, each.problem, each.scrapes >= 2, each.size_bytes) for each in up] == [
        ("engine-0", "", True, len(METRICS)),
        ("engine-1", "", True, 4),
    ]
    first = kept.scrapes("engine-0")[0]
    assert (first.content, first.failure, kept.frames[0].source) == (METRICS, "", "vllm")
    assert first.took_us is not None
    assert abs(first.at_us - time.time_ns() // 1_000) < 60_000_000
    instants = [each.at_us for each in kept.scrapes("engine-0")]
    assert instants == sorted(set(instants))


def test_an_engine_that_is_away_is_a_failure_each_time_and_costs_no_other(
    make_engine: Callable[..., Engine], kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    away, there = make_engine(answering(status=503)), make_engine()
    with patient_scraper(kept, away, there) as scraper:
        eventually(lambda: len(kept.scrapes("engine-0")) >= 3 and len(kept.scrapes("engine-1")) >= 3)
        assert scraper.statistics().targets[0].problem == "HTTP 503"
        away.answer = answering()
        eventually(lambda: scraper.statistics().targets[0].scrapes)
    assert {each.failure for each in kept.scrapes("engine-0")} == {"HTTP 503", ""}
    assert {each.failure for each in kept.scrapes("engine-1")} == {""}
    assert caplog.text.count("engine-0: not scraped: HTTP 503") == 1
    assert caplog.text.count("engine-0: scraped again") == 1


def test_an_engine_that_hangs_holds_up_no_other(make_engine: Callable[..., Engine], kept: Kept) -> None:
    released = threading.Event()
    hanging, there = make_engine(lambda handler: released.wait(600.0)), make_engine()
    with patient_scraper(kept, hanging, there, timeouts_seconds=[0.1]):
        eventually(lambda: len(kept.scrapes("engine-1")) >= 5 and kept.scrapes("engine-0"))
    released.set()  # before the end it would be answered by a connection that breaks
    assert {each.failure for each in kept.scrapes("engine-0")} == {"no whole answer within 0.1 s"}


def test_a_spool_that_is_full_costs_answers_and_is_said(
    make_engine: Callable[..., Engine], kept: Kept
) -> None:
    kept.refusing = SpoolFull("spool", "is full")
    with patient_scraper(kept, make_engine()) as scraper:
        eventually(lambda: kept.refused >= 2)
        eventually(lambda: "is full" in scraper.statistics().paused)
        kept.refusing = None
        eventually(kept.scrapes)
        eventually(lambda: not scraper.statistics().paused)
    assert scraper.failure is None


def test_an_error_of_another_kind_ends_the_scraper_and_is_kept(
    make_engine: Callable[..., Engine], kept: Kept
) -> None:
    kept.refusing = ZeroDivisionError("a bug")
    with patient_scraper(kept, make_engine()) as scraper:
        eventually(lambda: scraper.failure is not None)
        assert not scraper.is_alive
    assert isinstance(scraper.failure, ZeroDivisionError)


def test_targets_of_a_file_come_and_go(
    make_engine: Callable[..., Engine], kept: Kept, tmp_path: Path
) -> None:
    path, engine = tmp_path / "engines.yml", make_engine()
    place = engine.url.removeprefix("http://").removesuffix("/metrics")
    with scraper_of(section(files=(path,)), kept) as scraper:
        eventually(lambda: scraper.statistics().problems)
        path.write_text(f"- targets: ['{place}']\n  labels: {{region: eu}}\n")
        eventually(kept.scrapes)
        assert dict(kept.scrapes()[0].labels) == {"region": "eu"}
        assert [each.name for each in scraper.statistics().targets] == [place]
        path.write_text("[]")
        eventually(lambda: not scraper.statistics().targets)


def test_a_target_named_twice_is_scraped_once(
    make_engine: Callable[..., Engine], kept: Kept, tmp_path: Path
) -> None:
    engine = make_engine()
    place = engine.url.removeprefix("http://").removesuffix("/metrics")
    (tmp_path / "a.json").write_text(f'[{{"targets": ["{place}", "{place}"]}}]')
    settings = VllmSection(
        interval=0.1, timeout=0.1, targets=(TargetSection(url=engine.url),), files=(tmp_path / "a.json",)
    )
    with scraper_of(settings, kept) as scraper:
        eventually(lambda: len(kept.frames) >= 3)
        assert len(scraper.statistics().targets) == 1


def test_stopping_waits_for_no_answer(make_engine: Callable[..., Engine], kept: Kept) -> None:
    released = threading.Event()
    engine = make_engine(lambda handler: released.wait(600.0))
    with scraper_of(section(engine, interval=100.0).model_copy(update={"interval": 100.0}), kept) as scraper:
        eventually(lambda: scraper.statistics().targets)
    assert kept.frames == []
    released.set()


def test_two_addresses_with_one_name_are_refused() -> None:
    targets = (TargetSection(url="http://a:1", name="x"), TargetSection(url="http://b:1", name="x"))
    with pytest.raises(ConfigurationError, match=r"vllm\.targets: two targets have one name \(x\)"):
        TargetFinder(VllmSection(targets=targets))


def test_a_token_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    target = TargetSection(url="http://a:1", token_file=tmp_path / "token")
    with pytest.raises(ConfigurationError, match="token cannot be read"):
        TargetFinder(VllmSection(targets=(target,)))


def test_targets_are_asked_at_instants_of_their_own() -> None:
    defaults = Defaults(interval_seconds=10.0, timeout_seconds=10.0)
    phases = [phase(defaults.target(f"http://engine-{number}:8000")) for number in range(200)]
    assert all(0 <= each < 10 for each in phases)
    assert {int(each) for each in phases} == set(range(10))
    assert phase(defaults.target("http://engine-0:8000")) == phases[0]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"targets": ["ftp://a"]}, "neither http nor https"),
        ({"targets": ["http://u:p@a"]}, "user or a password"),
        ({"targets": [{"url": "http://a", "interval": "0s"}]}, "between 100ms and 1h"),
        ({"targets": [{"url": "http://a", "certificate": "a.pem"}]}, "both certificate and key"),
        ({"targets": [{"url": "http://a", "headers": {"X": "a\nb"}}]}, "control character"),
        ({"dns": [{"name": "a", "type": "A"}]}, "needs a port"),
        ({"dns": [{"name": "a", "path": "m"}]}, "does not begin with /"),
    ],
)
def test_what_the_section_refuses(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        VllmSection.model_validate(given)


def test_what_the_section_takes() -> None:
    taken = VllmSection.model_validate(
        {"targets": ["a:8000", {"url": "https://b/x", "interval": "5s"}], "dns": [{"name": "v"}]}
    )
    assert [each.url for each in taken.targets] == ["http://a:8000", "https://b/x"]
    assert taken.dns == (DnsSection(name="v"),)

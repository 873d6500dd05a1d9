"""Own the tenants of the simulated month: what they send, when, and how patient their clients are."""

from __future__ import annotations

from dataclasses import dataclass

HALF_HOURS = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """A clipped log-normal law of token counts."""

    median: float
    sigma: float
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursts:
    """Requests that come together: a share of all, in crowds of a mean size, each within so many seconds."""

    ratio: float
    size: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """One customer of the gateway; ratios are shares of its requests."""

    name: str
    model: str
    weight: int = 1  # its share of the traffic, relative to the other tenants' weights
    uri: str = "/v1/chat/completions"
    own_ids: str = ""  # its clients send X-Request-Id: this and a number, again and again
    prompt: Lengths = Lengths(median=500, sigma=0.6, low=16, high=4000)
    completion: Lengths = Lengths(median=80, sigma=0.6, low=1, high=1000)
    half_hours: tuple[float, ...] = (1.0,) * HALF_HOURS  # relative intensity over a local day
    day_off_ratio: float = 1.0  # intensity of a day off, relative to a workday's
    bursts: Bursts = Bursts(ratio=0.0, size=1, seconds=1.0)
    stream_ratio: float = 0.0
    malformed_ratio: float = 0.0
    hurried_ratio: float = 0.0  # clients that give up after `patience_seconds` (a median)
    patience_seconds: float = 20.0
    leaves_ratio: float = 0.0  # streams that the client leaves in the middle
    requests_per_second: float = 50.0  # limit_req of the gateway
    request_burst: int = 1000


def _day(*spans: tuple[float, float, float], floor: float = 0.02) -> tuple[float, ...]:
    """Return a day's half-hours: each span is (from hour, to hour, intensity), the rest `floor`."""
    return tuple(
        max([floor, *(level for start, end, level in spans if start <= slot / 2 < end)])
        for slot in range(HALF_HOURS)
    )


LARGE = "deepseek-v4"
SMALL = "qwen3-8b"

TENANTS = (
    # Risk labels for a bank: short prompts, a word or two as the answer, trading hours.
    Tenant(
        name="云帆金融",
        model=LARGE,
        weight=420,
        prompt=Lengths(median=260, sigma=0.35, low=60, high=900),
        completion=Lengths(median=6, sigma=0.4, low=1, high=14),
        half_hours=_day((9.5, 11.5, 1.0), (14, 15, 1.0), (8.5, 9.5, 0.3), (11.5, 14, 0.25), (15, 20, 0.18)),
        day_off_ratio=0.12,
        bursts=Bursts(ratio=0.15, size=90, seconds=8),
        malformed_ratio=0.001,
        hurried_ratio=0.02,
        patience_seconds=8,
        requests_per_second=20,
        request_burst=200,
    ),
    # A help desk: chats, streamed, office hours and evenings.
    Tenant(
        name="acme",
        model=LARGE,
        weight=225,
        prompt=Lengths(median=900, sigma=0.7, low=80, high=6000),
        completion=Lengths(median=140, sigma=0.5, low=8, high=600),
        half_hours=_day((9, 18, 1.0), (18, 23, 0.55), (7, 9, 0.3), floor=0.06),
        day_off_ratio=0.6,
        stream_ratio=0.9,
        malformed_ratio=0.002,
        hurried_ratio=0.05,
        patience_seconds=12,
        leaves_ratio=0.02,
        requests_per_second=10,
        request_burst=100,
    ),
    # Contract review: long documents, whole folders at once. These crowd out the short ones.
    Tenant(
        name="borealis-legal",
        model=LARGE,
        weight=45,
        prompt=Lengths(median=7500, sigma=0.6, low=1500, high=28000),
        completion=Lengths(median=160, sigma=0.4, low=40, high=500),
        half_hours=_day((9, 11.5, 1.0), (14, 17.5, 0.5), (17.5, 21, 0.15)),
        day_off_ratio=0.1,
        bursts=Bursts(ratio=0.75, size=25, seconds=15),
        malformed_ratio=0.004,
        requests_per_second=2,
        request_burst=60,
    ),
    # Search with retrieved passages, evenings and weekends.
    Tenant(
        name="lumen-search",
        model=SMALL,
        weight=230,
        prompt=Lengths(median=2200, sigma=0.4, low=300, high=8000),
        completion=Lengths(median=45, sigma=0.5, low=4, high=250),
        half_hours=_day((10, 19, 0.5), (19, 23, 1.0), (7, 10, 0.25), floor=0.05),
        day_off_ratio=1.3,
        bursts=Bursts(ratio=0.05, size=12, seconds=3),
        stream_ratio=0.7,
        malformed_ratio=0.001,
        hurried_ratio=0.08,
        patience_seconds=6,
        leaves_ratio=0.015,
        requests_per_second=10,
        request_burst=80,
    ),
    # Extraction from shipping papers by a job that starts at night and whenever a vessel comes in.
    Tenant(
        name="harbour-logistics",
        model=SMALL,
        weight=80,
        uri="/v1/completions",
        own_ids="waybill-",
        prompt=Lengths(median=700, sigma=0.3, low=200, high=2500),
        completion=Lengths(median=60, sigma=0.3, low=10, high=200),
        half_hours=_day((1, 4, 1.0), (13, 15, 0.25), (20, 21, 0.2), floor=0.01),
        bursts=Bursts(ratio=0.9, size=220, seconds=60),
        malformed_ratio=0.003,
        requests_per_second=3,
        request_burst=80,
    ),
)
"""The demonstration's five tenants; weights are thousandths of the month's requests."""

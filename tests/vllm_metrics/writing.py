"""Write expositions, and strategies for what is legal in them."""

from __future__ import annotations

from hypothesis import strategies as st

METRIC_NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,8}", fullmatch=True)
LABEL_NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,6}", fullmatch=True).filter(
    lambda name: name != "__name__"
)
LABEL_VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\r") | st.sampled_from('\\"\n,{}= #'),
    max_size=8,
)
NUMBERS = (
    st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats(allow_nan=False)
    | st.just(float("inf"))
    | st.just(float("-inf"))
    | st.none()
)
LABELS = st.dictionaries(LABEL_NAMES, LABEL_VALUES, max_size=3)
SERIES = st.tuples(METRIC_NAMES, LABELS.map(lambda labels: tuple(sorted(labels.items()))))
SAMPLES = st.dictionaries(SERIES, NUMBERS, max_size=6)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def number_text(value: float | None) -> str:
    if value is None:
        return "NaN"
    return {float("inf"): "+Inf", float("-inf"): "-Inf"}.get(value, repr(value))


def series_text(name: str, labels: tuple[tuple[str, str], ...]) -> str:
    inner = ",".join(f'{label}="{escaped(value)}"' for label, value in labels)
    return f"{name}{{{inner}}}" if labels else name


def sample_line(series: tuple[str, tuple[tuple[str, str], ...]], value: float | None) -> str:
    return f"{series_text(*series)} {number_text(value)}"


def text_of(samples: dict[tuple[str, tuple[tuple[str, str], ...]], float | None]) -> bytes:
    return "".join(sample_line(series, value) + "\n" for series, value in samples.items()).encode()

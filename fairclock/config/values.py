"""Own the values that sections are made of: sizes, durations, files, addresses."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

PROBLEM = "fairclock"
FOLDER = "folder"
OFF = "off"

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_BYTE_UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}  # fmt: skip
_SECONDS_UNITS = {"ms": Decimal("0.001"), "s": 1, "min": 60, "h": 3600, "d": 86_400}
_ADDRESS = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+):(?P<port>\d{1,5})")
_LARGEST_PORT = 65_535
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def refuse(problem: str, remedy: str, *, secret: bool = False) -> PydanticCustomError:
    """Return the error that a validator raises; a `secret` value is not shown in it."""
    context = {"problem": problem, "remedy": remedy, "secret": secret}
    return PydanticCustomError(PROBLEM, "{problem}; {remedy}", context)


def _amount(text: str, units: dict[str, Any]) -> Decimal | None:
    match = _AMOUNT.fullmatch(text.strip())
    unit = units.get(match[2].lower()) if match else None
    return None if match is None or unit is None else Decimal(match[1]) * unit


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    amount = _amount(value, _BYTE_UNITS)
    if amount is None:
        raise refuse("is not an amount of bytes", "write 512 MiB or 2 GB")
    return int(amount)


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    amount = _amount(value, _SECONDS_UNITS)
    if amount is None:
        raise refuse("is not a duration", "write 500ms, 5s or 2min")
    return float(amount)


def _path(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        return value
    if not value.strip():
        raise refuse("is empty", "write the path of a file or folder")
    folder = (info.context or {}).get(FOLDER, Path())
    return (folder / Path(value).expanduser()).absolute()


def _listening(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    match = _ADDRESS.fullmatch(text)
    if text != OFF and (match is None or int(match["port"]) > _LARGEST_PORT):
        raise refuse("is not an address to listen on", "write 127.0.0.1:8780, [::1]:8780 or off")
    return text


def _share(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value
    match = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise refuse("is no share", "write 80%")
    return Fraction(match[1]) / 100


ByteCount = Annotated[int, BeforeValidator(_bytes)]
"""A size in bytes, written ``512 MiB`` or ``2 GB``."""

Seconds = Annotated[float, BeforeValidator(_seconds)]
"""A duration in seconds, written ``500ms``, ``5s`` or ``2min``."""

FilePath = Annotated[Path, BeforeValidator(_path)]
"""A path; a relative one counts from the folder of the configuration file."""

Listening = Annotated[str, BeforeValidator(_listening)]
"""HOST:PORT, or ``off``."""

Share = Annotated[Fraction, BeforeValidator(_share)]
"""A share, written ``80%``."""

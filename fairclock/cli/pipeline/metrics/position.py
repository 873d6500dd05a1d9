"""Own up to where the counters were told, kept on the disk: the next process begins there, at 0."""

from __future__ import annotations

import json
import logging
import os
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fairclock.model import from_us, to_us

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger(__name__)
_REACH = timedelta(days=7)


class Position:
    """An instant in a file.

    It may be missing or damaged: then counting begins where this process did, and what came while nobody counted is in the store
    and not in counters.
    """

    def __init__(self, path: Path, *, begun: datetime) -> None:
        self._path = path
        self._begun = begun
        self._said = False

    def read(self, watermark: datetime) -> datetime:
        """Return the instant; where it is not known, lies beyond `watermark` or more than a week before, when this process began."""
        otherwise = min(self._begun, watermark)
        try:
            found = from_us(int(json.loads(self._path.read_text(encoding="utf-8"))["told_us"]))
        except FileNotFoundError:
            return otherwise
        except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            _LOG.warning("%s cannot be read, so counting begins anew: %r", self._path, error)
            return otherwise
        return found if watermark - _REACH <= found <= watermark else otherwise

    def write(self, instant: datetime) -> None:
        """Keep an instant; a disk that takes nothing is said once, and is no reason to answer no scrape."""
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_text(json.dumps({"told_us": to_us(instant)}), encoding="utf-8")
            os.replace(fresh, self._path)  # noqa: PTH105 - the call that is atomic
        except OSError as error:
            if not self._said:
                _LOG.warning("%s cannot be written: %s", self._path, error)
            self._said = True
        else:
            self._said = False

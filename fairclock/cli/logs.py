"""Own what a log line looks like: key=value pairs, or a JSON object, in UTC, on standard error."""

from __future__ import annotations

import json
import logging
import time
from typing import Literal

_QUIETED = {
    **dict.fromkeys(("uvicorn", "httpx", "httpcore", "asyncio"), logging.WARNING),
    # what they say before they raise is in our own errors, without a traceback and without a line of the batch
    **dict.fromkeys(("urllib3", "clickhouse_connect"), logging.CRITICAL),
}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/+-")


class _Lines(logging.Formatter):
    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        whole, fraction = divmod(record.created, 1)
        fields = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int(fraction * 1000):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            fields["exception"] = self.formatException(record.exc_info)
        if self._as_json:
            return json.dumps(fields, ensure_ascii=False)
        return " ".join(f"{key}={_quoted(value)}" for key, value in fields.items())


def _quoted(value: str) -> str:
    return value if value and _PLAIN.issuperset(value) else json.dumps(value, ensure_ascii=False)


def start_logging(*, level: str = "info", form: Literal["text", "json"] = "text") -> None:
    """Write what the program says from `level` on; libraries only speak of what is wrong and nobody else tells."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines(as_json=form == "json"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    for name, least in _QUIETED.items():
        logging.getLogger(name).setLevel(least)

"""Own what the client library's errors mean: nobody there, no ClickHouse, no right to write, or the engine's own words."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING

from clickhouse_connect.driver.exceptions import OperationalError

from fairclock.errors import StoreError, StoreReadOnly, StoreUnreachable

if TYPE_CHECKING:
    from fairclock.store.dsn import EmbeddedAddress, ServerAddress

_READ_ONLY_CODES = frozenset({164, 497})
_HTTP_STATUS = re.compile(r"HTTP status (\d{3})")
_PASSING_STATUSES = frozenset({"429", "500", "502", "503", "504"})


def explained(error: BaseException, address: EmbeddedAddress | ServerAddress) -> StoreError | ImportError:
    """Return what `error`, met at `address`, means to whoever uses the store."""
    if isinstance(error, ImportError):
        return _missing(error)
    where, text = str(address), str(error).strip()
    code = getattr(error, "code", None)
    if isinstance(error, OperationalError | OSError) and code is None:
        return StoreUnreachable(
            where, "nobody answers", found=_reason(error), remedy="start it, or correct --dsn"
        )
    if code is None and (status := _HTTP_STATUS.search(text)):
        return _no_clickhouse(where, status[1])
    if "EmbeddedServer already initialized" in text:
        return StoreError(
            where, "this process works on another folder already", remedy="close that store first"
        )
    if code in _READ_ONLY_CODES:
        return StoreReadOnly(
            where, "it takes no writes", found=text[:300], remedy="use an account that may write"
        )
    return StoreError(where, text[:2000] or type(error).__name__)


def _reason(error: BaseException) -> str:
    """Return the shortest true reason of a network error: what the operating system said."""
    text = str(error)
    at = text.find("[Errno ")
    if at >= 0:
        return text[at:].split("]", 1)[1].split(")", 1)[0].strip(" '\"")
    return (text.splitlines() or [type(error).__name__])[0][:200]


def _no_clickhouse(where: str, status: str) -> StoreError:
    """Say what an answer that is none of ClickHouse's means: a proxy whose server is away, or a wrong address."""
    passes = status in _PASSING_STATUSES
    return (StoreUnreachable if passes else StoreError)(
        where,
        "a proxy answers, and no ClickHouse behind it" if passes else "what answers there is no ClickHouse",
        found=f"HTTP status {status}",
        remedy="start the server, or correct --dsn" if passes else "correct --dsn",
    )


def _missing(error: ImportError) -> ImportError:
    """Return `error`, as one that names the package where the client library says that in words only."""
    is_absent = importlib.util.find_spec("chdb") is None
    return ModuleNotFoundError(str(error), name="chdb") if is_absent else error

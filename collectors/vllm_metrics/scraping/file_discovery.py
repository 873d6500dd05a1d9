"""Own the files that name targets, in the format of Prometheus's ``file_sd_configs``, JSON or YAML.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#file_sd_config
"""

from __future__ import annotations

import glob
import logging
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from collectors.vllm_metrics.scraping.urls import url_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from collectors.vllm_metrics.scraping.targets import Defaults, Target

_LOG = logging.getLogger(__name__)
_LARGEST_BYTES = 16 << 20
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?")
_UNITS_SECONDS = (Decimal(3600), Decimal(60), Decimal(1), Decimal("0.001"))
_PARAMETER = "__param_"


class FileTargets:
    """The targets in files whose names match `patterns`; `read` looks at them again.

    A file that cannot be understood keeps the targets it had, and is told once; one that is gone has none.
    """

    def __init__(self, patterns: Iterable[str], defaults: Defaults) -> None:
        self._patterns = tuple(patterns)
        self._defaults = defaults
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._targets: dict[str, list[Target]] = {}
        self.problems: dict[str, str] = {}

    def read(self) -> list[Target]:
        """Return all targets as the files name them now."""
        paths = sorted({path for pattern in self._patterns for path in glob.glob(pattern)})  # noqa: PTH207
        for gone in self._targets.keys() - set(paths):
            del self._targets[gone]
            self._seen.pop(gone, None)
        missing = [each for each in self._patterns if not glob.has_magic(each) and each not in paths]
        self.problems = {
            path: text for path, text in self.problems.items() if path in paths or path in missing
        }
        for path in missing:
            self._problem(path, "there is no such file")
        for path in paths:
            self._look_at(path)
        return [target for path in sorted(self._targets) for target in self._targets[path]]

    def _look_at(self, path: str) -> None:
        try:
            status = Path(path).stat()
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if self._seen.get(path) == state:
                return
            targets = list(targets_of(_content(path, status.st_size), self._defaults))
        except (OSError, ValueError) as error:
            self._seen.pop(path, None)  # what comes next may look as what went before it did
            self._problem(path, error.strerror or str(error) if isinstance(error, OSError) else str(error))
            return
        self._seen[path], self._targets[path] = state, targets
        if self.problems.pop(path, None) is not None:
            _LOG.warning("%s: it is understood again; %d targets", path, len(targets))

    def _problem(self, path: str, text: str) -> None:
        if self.problems.get(path) != text:
            kept = len(self._targets.get(path, ()))
            _LOG.warning("%s: %s; %d targets stay as they were; correct the file", path, text, kept)
        self.problems[path] = text


def _content(path: str, size_bytes: int) -> bytes:
    if size_bytes > _LARGEST_BYTES:
        raise ValueError(f"it has more than {_LARGEST_BYTES >> 20} MiB")
    return Path(path).read_bytes()


def targets_of(content: bytes, defaults: Defaults) -> Iterator[Target]:
    """Yield the targets that the content of a file names; raises `ValueError` with a sentence."""
    try:
        groups = yaml.safe_load(content)  # JSON is YAML
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" in line {mark.line + 1}"
        raise ValueError(f"it is neither JSON nor YAML{where}") from error
    if not isinstance(groups, list):
        raise ValueError("it is no list of groups; write [{targets: [host:8000]}]")  # noqa: TRY004 - a sentence for whoever wrote it
    for number, group in enumerate(groups, 1):
        if not isinstance(group, dict) or set(group) - {"targets", "labels"}:
            raise ValueError(f"group {number} may have the keys targets and labels, and no others")
        labels = group.get("labels") or {}
        if not isinstance(labels, dict) or not all(
            isinstance(each, str) for each in [*labels, *labels.values()]
        ):
            raise ValueError(f"group {number}: labels must be texts, by their names")
        targets = group.get("targets") or []
        if not isinstance(targets, list):
            raise ValueError(f"group {number}: targets must be a list")  # noqa: TRY004 - see above
        for text in targets:
            yield _target(text, labels, defaults, f"group {number}")


def _target(text: Any, labels: dict[str, str], defaults: Defaults, where: str) -> Target:
    if not isinstance(text, str):
        raise ValueError(f"{where}: a target must be a text such as host:8000")  # noqa: TRY004 - see above
    scheme, path = labels.get("__scheme__", "http"), labels.get("__metrics_path__", "/metrics")
    parameters = "&".join(
        f"{name.removeprefix(_PARAMETER)}={value}"
        for name, value in sorted(labels.items())
        if name.startswith(_PARAMETER)
    )
    url = f"{scheme}://{text}{path}" + (f"?{parameters}" if parameters else "")
    problem = url_problem(url) or ("is no host and port" if "/" in text else "")
    if problem:
        raise ValueError(f"{where}: the target {text!r} {problem}")
    return defaults.target(
        url,
        interval_seconds=_seconds(labels.get("__scrape_interval__"), where),
        timeout_seconds=_seconds(labels.get("__scrape_timeout__"), where),
        labels={name: value for name, value in labels.items() if not name.startswith("__")},
    )


def _seconds(text: str | None, where: str) -> float | None:
    if text is None:
        return None
    match = _DURATION.fullmatch(text.strip())
    seconds = sum(
        (unit * int(amount) for unit, amount in zip(_UNITS_SECONDS, match.groups(), strict=True) if amount), Decimal()
    ) if match else Decimal()  # fmt: skip
    if not Decimal("0.1") <= seconds <= Decimal(3600):
        raise ValueError(f"{where}: {text!r} is no duration between 100ms and 1h")
    return float(seconds)

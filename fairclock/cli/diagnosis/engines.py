"""Own the check of the engines whose statistics are scraped: whether they are found, and whether they answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fairclock.cli.diagnosis.finding import error, from_error, ok, warning
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.vllm_metrics.configuration import VllmSection
    from collectors.vllm_metrics.scraping.fetching import Fetcher
    from collectors.vllm_metrics.scraping.targets import Target
    from fairclock.cli.diagnosis.finding import Finding

_CHECK = "vllm"
_MOST_ASKED = 100
_NOT_FOUND = "correct vllm.files and vllm.dns, or what they name"
_NO_ANSWER = "see that the engine runs and is reached from here; correct vllm in fairclock.yaml"


def engine_findings(section: VllmSection) -> Iterator[Finding]:
    """Look for the engines and ask each once; nothing where none is to be scraped."""
    if not (section.targets or section.files or section.dns):
        return
    try:
        yield from asyncio.run(_look(section))
    except ConfigurationError as problem:
        yield from_error(_CHECK, problem)


async def _look(section: VllmSection) -> list[Finding]:
    from collectors.vllm_metrics.scraping.fetching import Fetcher  # noqa: PLC0415 - only where there are engines
    from collectors.vllm_metrics.scraping.finding import TargetFinder  # noqa: PLC0415

    finder, fetcher = TargetFinder(section), Fetcher()
    try:
        targets = await finder.find()
        findings = [error(_CHECK, f"{name}: {problem}", _NOT_FOUND) for name, problem in finder.problems()]
        findings += await asyncio.gather(*(_asked(fetcher, target) for target in targets[:_MOST_ASKED]))
    finally:
        await fetcher.close()
    if not targets:
        findings.append(warning(_CHECK, "no engine is found", _NOT_FOUND))
    if len(targets) > _MOST_ASKED:
        findings.append(ok(_CHECK, f"{len(targets) - _MOST_ASKED} more engines, not asked"))
    return findings


async def _asked(fetcher: Fetcher, target: Target) -> Finding:
    from collectors.vllm_metrics.exposition import parse  # noqa: PLC0415
    from collectors.vllm_metrics.scraping.fetching import ScrapeFailedError  # noqa: PLC0415

    try:
        body = await fetcher.fetch(target)
    except ScrapeFailedError as problem:
        return error(_CHECK, f"{target.name}: {problem}", _NO_ANSWER)
    samples = len(parse(body.content, content_type=body.content_type).samples)
    if not samples:
        return error(_CHECK, f"{target.name} answers without one sample", _NO_ANSWER)
    return ok(_CHECK, f"{target.name}, {samples} samples")

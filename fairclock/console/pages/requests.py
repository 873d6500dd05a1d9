"""Own the request explorer: a list with each request's way in small, and one request with every mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.charts.bars import MarkAt, Share, shares_bar, way_bar
from fairclock.console.pages.charts.figure import Key
from fairclock.console.pages.states import outcome_state
from fairclock.console.pages.view import segment
from fairclock.console.pages.wording import bidirectional
from fairclock.model import Outcome
from fairclock.store.request_search import ORDERS

if TYPE_CHECKING:
    from fairclock.console.pages.view import View
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.requests import RequestList, RequestPage, RequestRow

_FINISHED = 1e-9


def request_list_parts(page: RequestList, view: View, words: Wording) -> dict[str, Any]:
    """Return what the template of the list needs beside the reading."""
    longest = max((each.end_to_end_seconds for each in page.requests), default=0.0) or 1.0
    return {
        "rows": [_row(each, longest, view, words) for each in page.requests],
        "outcome_options": [(each.value, words.word("outcomes", each.value)) for each in Outcome],
        "order_options": [(name, _order(name, words)) for name in ORDERS],
        "ways_key": [
            Key(style="fill-queue", name=words.word("clocks", "queue"), is_line=False),
            Key(style="fill-plain", name=words.word("clocks", "excluding_queue"), is_line=False),
        ],
    }


def _order(name: str, words: Wording) -> str:
    if name == "newest":
        return words.text("requests.newest")
    return words.text("requests.longest", clock=words.word("clocks", name))


def _row(request: RequestRow, longest: float, view: View, words: Wording) -> dict[str, Any]:
    queue = request.queue_seconds or 0.0
    notes = []
    if request.attempts > 1:
        notes.append(words.text("requests.attempts", n=request.attempts))
    if request.engine != "joined":
        notes.append(words.text(f"requests.engine.{request.engine}"))
    title = words.text(
        "requests.bar",
        queue=words.seconds(request.queue_seconds),
        rest=words.seconds(request.excluding_queue_seconds),
    )
    return {
        "request": request,
        "name": request.request_id or request.trace_id or request.key,
        "link": view.to(f"/requests/{segment(request.key)}"),
        "state": outcome_state(request.outcome, words),
        "notes": notes,
        "bar": shares_bar(
            title=title,
            height=12,
            shares=[
                Share(style="fill-queue", ratio=queue / longest, name=""),
                Share(
                    style="fill-plain" if request.queue_seconds is not None else "fill-unknown",
                    ratio=(request.end_to_end_seconds - queue) / longest,
                    name="",
                ),
            ],
        ),
    }


def request_parts(page: RequestPage, words: Wording) -> dict[str, Any]:
    """Return what the template of one request needs beside the reading."""
    request = page.request
    return {
        "request": request,
        "outcome": outcome_state(request.outcome, words),
        "flags": [words.text(f"flag.{flag}") for flag in page.flags],
        "way": _way(page, words),
        "phases": [
            (
                words.text("phase.unmeasured")
                if each.phase == "unmeasured"
                else words.word("phases", each.phase),
                words.seconds(each.seconds),
                words.ratio(each.share_ratio),
            )
            for each in page.phases
        ],
        "marks": [
            (
                number,
                words.shared.text(f"way.{each.mark}"),
                words.text("request.not_measured")
                if each.after_seconds is None
                else words.seconds(each.after_seconds),
                words.shared.text(f"way.{each.measured_by}"),
            )
            for number, each in enumerate(page.marks, start=1)
        ],
        "clocks": [(words.word("clocks", each.clock), words.seconds(each.seconds)) for each in page.clocks],
        "facts": _facts(page, words),
        "is_simulated": "simulated" in page.flags,
    }


def _way(page: RequestPage, words: Wording) -> dict[str, Any]:
    phases = [each for each in page.phases if each.seconds is not None]
    whole = (
        sum(max(each.seconds or 0.0, 0.0) for each in phases) or page.request.end_to_end_seconds or _FINISHED
    )
    names = {
        each.phase: words.text("phase.unmeasured")
        if each.phase == "unmeasured"
        else words.word("phases", each.phase)
        for each in phases
    }
    styles = {
        each.phase: "fill-unknown" if each.phase == "unmeasured" else f"fill-{each.phase}" for each in phases
    }
    title = words.text("request.way_title", total=words.seconds(page.request.end_to_end_seconds))
    return {
        "title": title,
        "key": [Key(style=styles[phase], name=name, is_line=False) for phase, name in names.items()],
        "drawing": way_bar(
            title=title,
            shares=[
                Share(
                    style=styles[each.phase],
                    ratio=max(each.seconds or 0.0, 0.0) / whole,
                    name=f"{words.seconds(each.seconds)} {words.text('seconds_unit')}",
                    hint=f"{names[each.phase]} {words.seconds(each.seconds)} {words.text('seconds_unit')}",
                )
                for each in phases
            ],
            marks=[
                MarkAt(number=number, ratio=min(max(each.after_seconds, 0.0) / whole, 1.0))
                for number, each in enumerate(page.marks, start=1)
                if each.after_seconds is not None
            ],
        ),
    }


def _facts(page: RequestPage, words: Wording) -> list[tuple[str, Any]]:
    request = page.request
    stream = None if page.stream is None else words.text("yes" if page.stream else "no")
    found: list[tuple[str, Any]] = [
        ("tenant", request.tenant),
        ("model", request.model),
        ("route", request.route),
        ("region", page.region),
        ("status", str(request.status)),
        ("error_code", page.error_code),
        ("upstream", page.upstream),
        ("trace_id", request.trace_id),
        ("stream", stream),
        ("inference_mode", page.inference_mode),
        ("model_version", page.model_version),
        ("prompt_tokens", page.prompt_tokens),
        ("cached_tokens", page.cached_tokens),
        ("completion_tokens", page.completion_tokens),
    ]
    return [(words.text(f"fact.{name}"), _value(value, words)) for name, value in found if value != ""]


def _value(value: object, words: Wording) -> object:
    if value is None:
        return words.text("not_known")
    return words.integer(value) if isinstance(value, int) else bidirectional(value)

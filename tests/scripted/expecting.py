"""Own the expectations of scripts: what a report, a lint or a refusal has to say."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.scripted.quantities import value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.scripted.language import Statement

VERDICTS = ("met", "violated", "insufficient_data", "not_measured")
_RENAMED = {"over": "violations"}
_TEXTS = ("reason", "unit", "verdict_without_exclusions", "state", "change")
_FLAGS = ("late", "retroactive", "in_contract")
_REFUSALS = {"refused:": 2, "unevaluable:": 3}
"""How a command ends that writes no report: with what is wrong on stderr."""
_CAP = ("claimed", "granted", "allowed", "used")
_OBJECTIVE = re.compile(r"(?P<name>\S+)(?: of (?P<part>[^:]+?))?(?: by version (?P<version>\d+))?")

Report = dict[str, Any]


def differences(
    statement: Statement, *, code: int, out: str, err: str, names: Mapping[str, str]
) -> list[str]:
    """Return what an ``expect`` does not find, as sentences; raises ValueError for one that cannot be read.

    `code`, `out` and `err` are of the last command; `names` are the ids of exclusions by their names.
    """
    kind, _, rest = statement.words.partition(" ")
    if kind == "exit":
        return _held("exit", value(rest), code)
    if kind in _REFUSALS:
        wanted = _REFUSALS[kind]
        held = code == wanted and rest in err
        return [] if held else [f"expected exit {wanted} and {rest!r}, found {code}: {err}"]
    try:
        answer = json.loads(out)
    except ValueError:
        return [f"expected an answer, found none: {err}"]
    if kind == "lint":
        return _of_lint(rest, answer)
    if kind == "not_evaluated:":
        listed = answer["not_evaluated"]
        return [] if rest in listed else [f"expected {rest} among what is not evaluated, found {listed}"]
    if not statement.facts:
        raise ValueError("expects nothing; write expect WHAT: FACT, FACT")
    return _of_report(statement.head, statement.facts, answer, names)


def _of_report(head: str, facts: list[str], report: Report, names: Mapping[str, str]) -> list[str]:
    match head.split():
        case ["exclusion", name]:
            return _of_exclusion(name, facts, report, names)
        case ["exclusions"]:
            return _of_row(head, facts, {"number": len(report["exclusions"])})
        case ["latency", clock]:
            return _of_one(head, facts, [each for each in report["latency"] if each["clock"] == clock])
        case ["budget", name]:
            rows = [each for each in report["error_budgets"] if each["objective"] == name]
            return _of_one(head, facts, rows)
        case [("coverage" | "period" | "traffic") as section]:
            return _of_row(head, facts, report[section] | report[section].get("outcomes", {}))
    return _of_objective(head, facts, report)


def _of_one(head: str, facts: list[str], rows: list[Report]) -> list[str]:
    if len(rows) != 1:
        return [f"{head}: expected one row, found {len(rows)}"]
    return _of_row(head, facts, rows[0])


def _of_objective(head: str, facts: list[str], report: Report) -> list[str]:
    match = _OBJECTIVE.fullmatch(head)
    if match is None:
        raise ValueError(f"is about nothing known ({head})")
    rows = [each for each in report["objectives"] if each["name"] == match["name"]]
    if match["part"]:
        rows = [each for each in rows if match["part"] == " ".join((each["part"] or {}).values())]
    if match["version"]:
        versions = [each["version_sha256"] for each in report["contract"]["versions"]]
        wanted = versions[int(match["version"]) - 1]
        rows = [each for each in rows if each["version_sha256"] == wanted]
    return _of_one(head, facts, rows)


def _of_exclusion(name: str, facts: list[str], report: Report, names: Mapping[str, str]) -> list[str]:
    rows = [
        each
        for each in report["exclusions"]
        if (each["automatic"] if name == "automatic" else each["id"] == names[name])
    ]
    if len(rows) != 1:
        return [f"exclusion {name}: expected it in the report, found {len(rows)} of it"]
    (row,) = rows
    seen = {f"{each}": row["cap"][f"{each}_seconds"] for each in _CAP}
    effect = row["effect"] or {"requests": None, "verdicts": []}
    seen |= {"state": row["state"], "windows": len(row["windows"]), "requests": effect["requests"]}
    seen |= {each: row[each] for each in _FLAGS}
    seen |= {"counts": any(each["counts"] for each in row["windows"])}
    seen |= {"change": " ".join(each["change"] for each in row["windows"] if each["change"])}
    seen |= {"turns": " ".join(f"{each['objective']}={each['would_be']}" for each in effect["verdicts"])}
    return _of_row(f"exclusion {name}", facts, seen)


def _of_row(what: str, facts: list[str], row: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for fact in facts:
        key, _, said = fact.partition(" ")
        if fact in VERDICTS:
            found += _held(what, fact, row["verdict"])
        elif fact.startswith("without exclusions "):
            found += _held(f"{what} {fact}", fact.split()[-1], row["verdict_without_exclusions"])
        elif fact in row and isinstance(row[fact], bool):
            found += _held(f"{what} {fact}", True, row[fact])
        elif fact.startswith("not ") and fact[4:] in row:
            found += _held(f"{what} {fact}", False, row[fact[4:]])
        elif _RENAMED.get(key, key) in row and said:
            seen = row[_RENAMED.get(key, key)]
            is_text = isinstance(seen, str) or key in _TEXTS
            wanted = (None if said == "none" else said) if is_text else value(said)
            found += _held(f"{what} {key}", wanted, seen)
        else:
            raise ValueError(f"has no such fact ({fact}); there are {', '.join(row)}")
    return found


def _of_lint(rest: str, answer: Report) -> list[str]:
    (file,) = answer["files"]
    said = [f"{each['severity']} {each['rule']} {each['path']}" for each in file["findings"]]
    if rest == "clean":
        said = [each for each in said if each.startswith("error")]
        return [f"expected no error, found {said}"] if said else []
    wanted = rest.split()
    found = any(each.split()[: len(wanted)] == wanted for each in said)
    return [] if found else [f"expected {rest!r}, found {said}"]


def _held(what: str, wanted: object, seen: object) -> list[str]:
    """Return a sentence if `seen` is not `wanted`; a report's numbers are the floats nearest to the exact ones."""
    if isinstance(wanted, Fraction):
        same = isinstance(seen, int | float) and not isinstance(seen, bool) and float(wanted) == float(seen)
        shown = str(wanted.numerator) if wanted.denominator == 1 else f"{wanted} ({float(wanted)!r})"
    else:
        same, shown = type(seen) is type(wanted) and seen == wanted, repr(wanted)
    return [] if same else [f"{what}: expected {shown}, found {seen!r}"]

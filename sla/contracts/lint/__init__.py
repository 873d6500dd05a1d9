"""Own what is said about a contract before anybody signs it: mistakes, open questions, unwise clauses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairclock.errors import ContractError
from sla.contracts.lint import numbers, payments, promises, terms
from sla.contracts.lint.findings import Finding, Severity, Wording
from sla.contracts.lint.repair import stand_in
from sla.contracts.lint.wording import chinese, in_both

if TYPE_CHECKING:
    from fairclock.clauses.problems import Path, Problem
    from sla.contracts.contract import Contract
    from sla.contracts.loading import Examination

_RULES = (*promises.RULES, *numbers.RULES, *terms.RULES, *payments.RULES)


def lint(contract: Contract) -> list[Finding]:
    """Return what the rules say about a contract, errors first."""
    return _sorted([finding for rule in _RULES for finding in rule(contract)])


def lint_examination(examination: Examination) -> list[Finding]:
    """Return what is wrong or unwise in a file, whether it is a contract yet or not, errors first."""
    source = examination.source
    problems = examination.problems
    findings = [_of_problem(problem) for problem in problems]
    if examination.contract is not None:
        findings += lint(examination.contract)
    else:
        contract, mended = stand_in(source.tree, problems)
        if contract is not None:
            findings += [each for each in lint(contract) if _certain(each, mended, problems)]
    return _sorted([replace(each, line=source.line_of(each.path)) for each in findings])


def require_lintable(contract: Contract) -> None:
    """Refuse a contract with lint errors; ContractError lists them all."""
    errors = [each for each in lint(contract) if each.severity == "error"]
    if errors:
        where = contract.source_path or contract.id
        raise ContractError(where, [each.plain() for each in errors])


def _of_problem(problem: Problem) -> Finding:
    found = f" ({problem.found})" if problem.found else ""
    found_zh = f"（{chinese(problem.found)}）" if problem.found else ""
    reason = in_both(problem.problem)
    clock = problem.path == ("clock", "start") and problem.asked
    rule = "no-clock-start" if clock else "unanswered" if problem.asked else "malformed"
    return Finding(
        severity="error",
        rule=rule,
        path=problem.path,
        reason=Wording(en=reason.en + found, zh=reason.zh + found_zh),
        suggestion=in_both(problem.remedy),
    )


def _certain(finding: Finding, mended: list[Path], problems: tuple[Problem, ...]) -> bool:
    """Tell whether a finding about a stand-in holds for the file too."""
    if any(finding.path[: len(path)] == path for path in mended):
        return False
    if finding.path[0] == "credits" and any(path[0] == "credits" for path in mended):
        return False  # tiers are judged against one another, and one of them is not what was meant
    if not finding.absence:
        return True
    doubtful = [
        each.path for each in problems if each.path and (each.unknown or isinstance(each.path[-1], int))
    ]
    return not any(len(path) == 1 or path[0] == finding.path[0] for path in doubtful)


def _sorted(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: (each.severity != "error", each.line or 0, str(each.path)))


__all__ = ["Finding", "Severity", "Wording", "lint", "lint_examination", "require_lintable"]

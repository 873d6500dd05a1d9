"""Own how a file becomes a price book, or the list of everything that keeps it from being one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from billing.prices.book import PriceBook
from billing.prices.consistency import inconsistencies
from billing.prices.examples import PRICE_BOOK_FILE, example_for
from fairclock.clauses.problems import path_text
from fairclock.clauses.source import Unreadable, read_source
from fairclock.clauses.validation import Guide, without_echoes, without_repeats
from fairclock.errors import PriceBookError

if TYPE_CHECKING:
    from fairclock.clauses.problems import Problem
    from fairclock.clauses.source import Source, Tree

GUIDE = Guide(model=PriceBook, example=example_for, reference="docs/price-book.md")


def load_price_book(path: Path | str) -> PriceBook:
    """Read the price book in a file; PriceBookError names every problem it has, not the first."""
    where = str(path)
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise PriceBookError(where, ["there is no such file; check the path"]) from error
    except IsADirectoryError as error:
        raise PriceBookError(where, ["this is a directory; name the price book in it"]) from error
    except OSError as error:
        raise PriceBookError(
            where, [f"the file cannot be read ({error.strerror}); check its permissions"]
        ) from error
    return parse_price_book(content, where=where)


def parse_price_book(content: bytes | str, *, where: str = "price book") -> PriceBook:
    """Read a price book from the file's bytes; PriceBookError names every problem."""
    raw = content.encode() if isinstance(content, str) else content
    try:
        source = read_source(raw, PRICE_BOOK_FILE)
    except Unreadable as error:
        raise PriceBookError(where, [error.sentence()]) from error
    book, problems = _validated(source.tree)
    problems = without_repeats([*source.problems, *inconsistencies(source.tree), *problems])
    if book is None or problems:
        problems.sort(key=lambda problem: (source.line_of(problem.path) or 0, str(problem.path)))
        raise PriceBookError(where, [_sentence(problem, source) for problem in problems])
    book._file_sha256 = hashlib.sha256(raw).hexdigest()  # noqa: SLF001
    return book


def _validated(tree: Tree) -> tuple[PriceBook | None, list[Problem]]:
    try:
        return PriceBook.model_validate(tree), []
    except ValidationError as errors:
        listed = errors.errors(include_url=False)
        # a list that its bad entries emptied is told by them
        told = [error for error in listed if not (error["type"] == "too_short" and error["input"])]
        return None, without_echoes([GUIDE.problem(error) for error in told])


def _sentence(problem: Problem, source: Source) -> str:
    line = source.line_of(problem.path)
    place = f" (line {line})" if line else ""
    found = f" ({problem.found})" if problem.found else ""
    return f"{path_text(problem.path)}{place}: {problem.problem}{found}; {problem.remedy}"

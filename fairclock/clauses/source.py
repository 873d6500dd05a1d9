"""Own how a file of clauses becomes a tree of texts with line numbers.

Every scalar stays the text it was written as: YAML's own guesses (``no`` is false, ``09:30`` is 570, ``1.10`` is
1.1) never happen. Aliases are followed within bounds; tags, keys that repeat and keys that are no text are
problems.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from fairclock.clauses.problems import Path, Problem

Tree: TypeAlias = "dict[str, Tree] | tuple[Tree, ...] | str | None"

LARGEST_FILE_BYTES = 256 * 1024
_MOST_NODES = 20_000
_DEEPEST = 24
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))


@dataclass(slots=True, kw_only=True)
class Source:
    """A file's tree, the line of each path in it, and what was wrong with its YAML."""

    tree: Tree = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line_of(self, path: Path) -> int | None:
        """Return the line of `path`, or of the nearest clause around it; None for a clause that is not there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines[path] if path else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """What a file is said to be, in words: ``contract``, where one is shown, and how one begins."""

    name: str
    example: str
    begins: str


class Unreadable(ValueError):  # noqa: N818
    """Bytes that are no YAML document; the message says why, `line` where it is known."""

    def __init__(self, problem: str, *, found: str | None = None, remedy: str | None = None) -> None:
        """Keep the parts apart."""
        self.problem = problem
        self.found = found
        self.remedy = remedy
        super().__init__(problem)

    def sentence(self) -> str:
        """Return ``problem (found); remedy``."""
        found = f" ({self.found})" if self.found else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.problem}{found}{remedy}"


def read_source(content: bytes, kind: FileKind) -> Source:
    """Turn a file's bytes into a tree of texts; Unreadable if they are no YAML mapping."""
    node = _compose(_decode(content, kind))
    if node is None:
        raise Unreadable("the file is empty", remedy=f"see {kind.example} for a {kind.name}")
    if not isinstance(node, yaml.MappingNode):
        raise Unreadable(
            f"this is not a {kind.name}: it does not consist of keys and values",
            remedy=f"begin with {kind.begins}",
        )
    source = Source()
    _Builder(source).build(node)
    return source


def _decode(content: bytes, kind: FileKind) -> str:
    if len(content) > LARGEST_FILE_BYTES:
        raise Unreadable(
            f"the file is too large for a {kind.name}",
            found=f"{len(content)} bytes",
            remedy=f"a {kind.name} has at most {LARGEST_FILE_BYTES} bytes",
        )
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("the file is UTF-16", remedy="save it as UTF-8")
    if b"\x00" in content:
        raise Unreadable("the file is binary, not text", remedy="give a YAML file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Unreadable(f"line {line} is not UTF-8 text", remedy="save the file as UTF-8") from error


def _compose(text: str) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise Unreadable(
            "the file is binary, not text", found=f"a control character in line {line}"
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Unreadable(f"{place}the file is not YAML", found=_said(error)) from error
    except RecursionError as error:
        raise Unreadable("the file is nested too deeply") from error
    return node


def _said(error: yaml.MarkedYAMLError) -> str:
    parts = (error.context, error.problem)
    return " ".join(" ".join(part.split()) for part in parts if part)


class _Builder:
    """Build the tree from nodes, counting them, so that aliases cannot multiply without end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._nodes = 0
        self._open: set[int] = set()

    def build(self, node: yaml.Node) -> None:
        self._source.tree = self._value(node, ())

    def _value(self, node: yaml.Node, path: Path) -> Tree:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise Unreadable("the file holds too many values", remedy="write fewer aliases")
        if len(path) > _DEEPEST:
            raise Unreadable("the file is nested too deeply")
        if id(node) in self._open:
            raise Unreadable("an alias holds itself", found=f"line {node.start_mark.line + 1}")
        self._source.lines.setdefault(path, node.start_mark.line + 1)
        if node.tag not in _PLAIN_TAGS:
            self._problem(path, "carries a YAML tag", found=node.tag, remedy="take the tag away")
        self._open.add(id(node))
        try:
            return self._of(node, path)
        finally:
            self._open.discard(id(node))

    def _of(self, node: yaml.Node, path: Path) -> Tree:
        if isinstance(node, yaml.SequenceNode):
            return tuple(self._value(child, (*path, number)) for number, child in enumerate(node.value))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        text: str = node.value
        if text in _NULLS and getattr(node, "style", None) is None:
            self._problem(path, "has no value", remedy=_remedy_for_nothing(path))
            return None
        return text

    def _mapping(self, node: yaml.MappingNode, path: Path) -> Tree:
        values: dict[str, Tree] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(path, "has a key that is not a word", remedy="quote the text, or write a word")
                continue
            key: str = key_node.value
            inner = (*path, key)
            if key in values:
                first = self._source.lines.get(inner)
                self._source.problems.append(
                    Problem(
                        path=inner,
                        problem="is written twice",
                        found=f"lines {first} and {key_node.start_mark.line + 1}",
                        remedy="keep one of them",
                    )
                )
                continue
            self._source.lines[inner] = key_node.start_mark.line + 1
            values[key] = self._value(value_node, inner)
        return values

    def _problem(self, path: Path, problem: str, *, found: str | None = None, remedy: str) -> None:
        self._source.problems.append(Problem(path=path, problem=problem, found=found, remedy=remedy))


def _remedy_for_nothing(path: Path) -> str:
    if path and str(path[-1])[:3] in {"mon", "tue", "wed", "thu", "fri", "sat", "sun"}:
        return 'within braces a comma ends the value: quote it, "sat,sun"'
    if path and str(path[-1]).isdigit():
        return "within braces a comma ends the value: write decimals with a point, 2.50"
    return "write the value, or take the key away"

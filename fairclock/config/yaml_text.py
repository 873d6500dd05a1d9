"""Own how the file becomes a tree of texts with line numbers.

Every scalar stays the text that was written: to YAML itself ``off`` is false and ``12:30`` is 750.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

Path: TypeAlias = "tuple[str | int, ...]"
Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | None"

LARGEST_FILE_BYTES = 1 << 20
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))


@dataclass(slots=True, kw_only=True)
class Source:
    """A file's tree, the line of each path in it, and what was wrong with it: (line, sentence)."""

    tree: Tree = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)

    def line_of(self, path: Path) -> int:
        """Return the line of `path`, or of the nearest place around it."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_source(content: bytes) -> Source:
    """Return the tree of `content`; ValueError, with a sentence, where it is no YAML mapping."""
    if len(content) > LARGEST_FILE_BYTES:
        raise ValueError(f"the file is larger than {LARGEST_FILE_BYTES >> 20} MiB; is it a configuration?")
    try:
        node = yaml.compose(content.decode("utf-8-sig"), Loader=yaml.BaseLoader)
    except UnicodeDecodeError as error:
        raise ValueError("the file is not UTF-8 text; save it as UTF-8") from error
    except yaml.reader.ReaderError as error:
        raise ValueError("the file is binary, not text; name a YAML file") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{place}this is not YAML ({error.problem}); correct it") from error
    except RecursionError as error:
        raise ValueError("the file is nested too deeply") from error
    source = Source(tree={})
    if node is None:
        return source
    if not isinstance(node, yaml.MappingNode):
        raise ValueError(  # noqa: TRY004 - about the file, not about an argument
            "the file does not consist of keys and values; write for example spool: {limit: 2 GiB}"
        )
    source.tree = _value(source, node, (), frozenset())
    return source


def _value(source: Source, node: yaml.Node, path: Path, around: frozenset[int]) -> Tree:
    line = node.start_mark.line + 1
    source.lines.setdefault(path, line)
    if id(node) in around:
        raise ValueError(f"line {line}: an alias holds itself; write the values out")
    inside = around | {id(node)}
    if node.tag not in _PLAIN_TAGS:
        source.problems.append((line, f"{_dotted(path)}: carries a YAML tag ({node.tag}); take it away"))
    if isinstance(node, yaml.SequenceNode):
        return [_value(source, each, (*path, number), inside) for number, each in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _mapping(source, node, path, inside)
    text: str = node.value
    return None if text in _NULLS and getattr(node, "style", None) is None else text


def _mapping(source: Source, node: yaml.MappingNode, path: Path, inside: frozenset[int]) -> Tree:
    values: dict[str, Tree] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            source.problems.append((line, f"{_dotted(path)}: has a key that is not a word; write a word"))
            continue
        inner = (*path, key.value)
        if key.value in values:
            source.problems.append(
                (
                    line,
                    f"{_dotted(inner)}: is written twice (line {source.lines[inner]} too); keep one of them",
                )
            )
            continue
        source.lines[inner] = line
        values[key.value] = _value(source, value, inner, inside)
    return values


def _dotted(path: Path) -> str:
    return dotted(path) or "the file"


def dotted(path: Path) -> str:
    """Return a path as it is written in messages: ``gateway.files[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text

"""Own how templates become HTML: everything escaped, nothing undefined, nothing loaded from elsewhere.

A folder may hold other templates in place of some of a package's. They run in a sandbox, and what is wrong with one
is said with its file and line.
"""

from __future__ import annotations

import hashlib
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from fairclock.documents.text import css_string, printable, shortened
from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDING = ".j2"


def environment(package: str, *, folder: Path | None = None) -> Environment:
    """Return the environment for the folder ``templates`` of `package`.

    Filters: ``name`` makes text that others wrote printable, ``shortened(n)`` cuts it, ``css`` quotes it
    for the style sheet. A template in `folder` takes the place of the package's of that name; DocumentError where the
    folder cannot be read or holds a template that has no place.
    """
    kind, loader = Environment, PackageLoader(package)
    if folder is not None:
        _check_names(folder, loader.list_templates())
        kind = ImmutableSandboxedEnvironment
    result = kind(
        loader=loader if folder is None else ChoiceLoader([FileSystemLoader(folder), loader]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    result.filters["name"] = printable
    result.filters["shortened"] = shortened
    result.filters["css"] = lambda text: Markup(css_string(printable(text)))  # noqa: S704 (quoted for CSS just here)
    return result


def rendered(environment: Environment, name: str, values: Mapping[str, Any], *, folder: Path | None) -> str:
    """Return the template `name` with `values`; what goes wrong in a file of `folder` is a DocumentError with its line."""
    try:
        return environment.get_template(name).render(values)
    except TemplateSyntaxError as error:
        raise _unreadable(error) from error
    except Exception as error:
        place = None if folder is None else _place(error, folder)
        if place is None:
            raise
        raise DocumentError(
            place, "the template fails",
            found=f"{type(error).__name__}: {error}"[:200],
            remedy="correct the template, or take it out of the folder",
        ) from error  # fmt: skip


def check_templates(environment: Environment, folder: Path) -> None:
    """Read every template of `folder`; DocumentError names file and line of the first that cannot be."""
    for path in sorted(folder.glob(f"*{_ENDING}")):
        try:
            environment.get_template(path.name)
        except TemplateSyntaxError as error:
            raise _unreadable(error) from error
        except (OSError, UnicodeDecodeError) as error:
            raise DocumentError(
                str(path), "the template cannot be read", found=str(error)[:120], remedy="write it as UTF-8"
            ) from error


def sha256_of(folder: Path) -> str:
    """Return one hash over the names and contents of a folder's templates."""
    whole = hashlib.sha256()
    for path in sorted(folder.glob(f"*{_ENDING}")):
        content = path.read_bytes()
        whole.update(f"{path.name}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _unreadable(error: TemplateSyntaxError) -> DocumentError:
    return DocumentError(
        f"{error.filename or error.name}:{error.lineno}",
        "the template cannot be read",
        found=error.message,
        remedy="correct the template, or take it out of the folder",
    )


def _check_names(folder: Path, known: list[str]) -> None:
    try:
        names = sorted(path.name for path in folder.iterdir() if path.name.endswith(_ENDING))
    except OSError as error:
        raise DocumentError(
            str(folder), "the folder of templates cannot be read",
            found=error.strerror, remedy="correct reports.templates",
        ) from error  # fmt: skip
    strange = [name for name in names if name not in known]
    if strange or not names:
        raise DocumentError(
            str(folder),
            "the folder holds a template that has no place" if strange else "the folder holds no template",
            found=", ".join(strange) or None,
            remedy=f"there are {', '.join(sorted(known))}",
        )


def _place(error: Exception, folder: Path) -> str | None:
    """Return file and line of the innermost template of `folder` that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return next(
        (
            f"{frame.filename}:{frame.lineno}"
            for frame in reversed(frames)
            if Path(frame.filename).parent == folder
        ),
        None,
    )

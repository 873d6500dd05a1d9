"""Own where the configuration is found and how it becomes a model, or one error with every problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from fairclock.config.problems import sentence
from fairclock.config.values import FOLDER
from fairclock.config.yaml_text import read_source
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

Model = TypeVar("Model", bound=BaseModel)

CONFIGURATION_FILE = "fairclock.yaml"
CONFIGURATION_VARIABLE = "FAIRCLOCK_CONFIG"


def find_file(named: Path | None, *, environment: Mapping[str, str], folder: Path) -> Path | None:
    """Return the file that is named, or that `environment` names, or ``fairclock.yaml`` in `folder`, if there."""
    if named is not None:
        return named
    if environment.get(CONFIGURATION_VARIABLE):
        return Path(environment[CONFIGURATION_VARIABLE])
    path = folder / CONFIGURATION_FILE
    try:
        return path if path.exists() else None
    except PermissionError as error:  # the folder is another user's, as with sudo -u in one's home
        raise ConfigurationError(
            str(path), "this user may not look for it here", remedy="name the file with --config"
        ) from error


def load_configuration(path: Path | None, model: type[Model]) -> Model:
    """Return the configuration in a file, or the defaults; ConfigurationError names every problem of it."""
    if path is None:
        return model()
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigurationError(str(path), "there is no such file", remedy="correct --config") from error
    except OSError as error:
        raise ConfigurationError(
            str(path), "the file cannot be read", found=error.strerror, remedy="check its permissions"
        ) from error
    return parse_configuration(content, model, where=str(path), folder=path.parent)


def parse_configuration(content: bytes, model: type[Model], *, where: str, folder: Path = Path()) -> Model:
    """Return the configuration that `content` is; relative paths in it count from `folder`."""
    try:
        source = read_source(content)
    except ValueError as error:
        raise ConfigurationError(where, str(error)) from error
    problems = list(source.problems)
    configuration = None
    try:
        configuration = model.model_validate(source.tree, context={FOLDER: folder})
    except ValidationError as errors:
        problems += [
            (source.line_of(error["loc"]), sentence(error, model))
            for error in errors.errors(include_url=False)
        ]
    if configuration is None or problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = [f"  line {line}, {text}" for line, text in sorted(problems)]
        raise ConfigurationError(where, "\n".join([count, *lines]))
    return configuration

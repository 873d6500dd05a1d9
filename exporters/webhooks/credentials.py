"""Own secrets: read from the environment or a file each time they are used, and never shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LONGEST_FILE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that no representation shows."""

    _text: str = field(repr=False)

    def reveal(self) -> str:
        """Return the text itself."""
        return self._text

    def __str__(self) -> str:
        """Return a placeholder."""
        return "•••"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSource:
    """Where a secret is: a variable of the environment, else a file."""

    variable: str | None = None
    file: Path | None = None

    def read(self, environment: Mapping[str, str]) -> Secret:
        """Return the secret as it is now; raises `ConfigurationError`, which never shows what was found."""
        where = f"${self.variable}" if self.variable else str(self.file)
        text = environment.get(self.variable, "") if self.variable else self._in_file()
        text = text.strip()
        if not text:
            raise ConfigurationError(where, "holds no secret", remedy="write the secret there")
        if not text.isprintable():
            raise ConfigurationError(
                where, "holds more than one line", remedy="write the secret there and nothing else"
            )
        return Secret(text)

    def _in_file(self) -> str:
        if self.file is None:
            return ""
        try:
            with self.file.open("rb") as file:
                return file.read(_LONGEST_FILE_BYTES).decode()
        except (OSError, UnicodeError) as error:
            found = error.strerror if isinstance(error, OSError) else "not a text"
            raise ConfigurationError(
                str(self.file), "the secret cannot be read", found=found, remedy="check path and permissions"
            ) from None

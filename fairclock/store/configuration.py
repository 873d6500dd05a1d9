"""Own the section ``store`` of the configuration."""

from __future__ import annotations

from pydantic import Field, field_validator

from fairclock.config import FilePath, Section, refuse
from fairclock.config.credentials import read_token
from fairclock.errors import UsageError
from fairclock.store.dsn import parse_dsn


class StoreSection(Section):
    """Where the rows are kept."""

    dsn: str | None = Field(default=None, examples=["chdb:///var/lib/fairclock"])
    """The store: chdb:///path or clickhouse://user:password@host:8123/database."""

    dsn_file: FilePath | None = Field(default=None, examples=["/etc/fairclock/dsn"])
    """The file that holds the store's address, where that has a password in it; it stands above dsn."""

    cluster: str | None = Field(default=None, examples=["fairclock"])
    """The cluster that a server's tables lie on, replicated and distributed; without it they lie on that server."""

    @field_validator("dsn")
    @classmethod
    def _is_an_address(cls, dsn: str | None) -> str | None:
        try:
            if dsn is not None:
                parse_dsn(dsn)
        except UsageError as error:
            raise refuse(error.problem, error.remedy or "", secret=True) from None
        return dsn

    @property
    def address(self) -> str | None:
        """Return the store's address, read from its file where one is named; raises `ConfigurationError`."""
        if self.dsn_file is None:
            return self.dsn
        return read_token(
            self.dsn_file,
            if_unreadable="let this user read the file that store.dsn_file names",
            if_empty="write clickhouse://user:password@host:8123/fairclock there",
            what="address",
        )

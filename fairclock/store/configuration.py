"""Own the section ``store`` of the configuration."""

from __future__ import annotations

from pydantic import Field, field_validator

from fairclock.config import Section, refuse
from fairclock.errors import UsageError
from fairclock.store.dsn import parse_dsn


class StoreSection(Section):
    """Where the rows are kept."""

    dsn: str | None = Field(default=None, examples=["chdb:///var/lib/fairclock"])
    """The store: chdb:///path or clickhouse://user:password@host:8123/database."""

    @field_validator("dsn")
    @classmethod
    def _is_an_address(cls, dsn: str | None) -> str | None:
        try:
            if dsn is not None:
                parse_dsn(dsn)
        except UsageError as error:
            raise refuse(error.problem, error.remedy or "", secret=True) from None
        return dsn

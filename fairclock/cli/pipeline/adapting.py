"""Own how the frames of every gateway format become canonical lines, with their tenants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from collectors.gateway.formats import canonical_lines, format_of
from collectors.gateway.tenants import tenancy_of
from exporters.clickhouse import lines_of

if TYPE_CHECKING:
    from collectors.gateway.configuration import GatewaySection
    from collectors.gateway.formats import GatewayFormat
    from collectors.gateway.tenants import Tenancy
    from exporters.clickhouse import Adapter
    from fairclock.model import Frame
    from fairclock.store import LineBatch

_MOST_FORMATS = 64


class Adapters(dict[str, "Adapter"]):
    """Adapters by the format that a frame names; a gateway's is made when the first frame of it comes."""

    def __init__(self, section: GatewaySection, others: dict[str, Adapter]) -> None:
        """Begin with `others`; raises `ConfigurationError` where the tenants' file of keys cannot be read."""
        super().__init__(others)
        self._others = others
        self._tenancy = tenancy_of(section.tenants)

    def __missing__(self, name: str) -> Adapter:
        """Make the adapter; raises `ConfigurationError` for a format that is not known."""
        adapter = _adapter(format_of(name), self._tenancy)
        if len(self) >= _MOST_FORMATS:  # each may hold a log_format of its own
            self.clear()
            self.update(self._others)
        self[name] = adapter
        return adapter


def _adapter(form: GatewayFormat, tenancy: Tenancy | None) -> Adapter:
    if form.passes_through and tenancy is None:
        return lines_of

    def adapt(frame: Frame) -> list[LineBatch]:
        lines = frame.payload.split(b"\n")
        if not lines[-1]:
            lines.pop()
        canonical = canonical_lines(form, lines, tenancy=tenancy)
        return lines_of(replace(frame, payload=b"".join([line + b"\n" for line in canonical])))

    return adapt

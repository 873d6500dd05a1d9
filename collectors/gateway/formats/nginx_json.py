"""Own nginx's log as the shipped log_format writes it: JSON that is canonical already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.gateway.formats.format import GatewayFormat
from collectors.gateway.formats.values import bearer_key, json_object, plain

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_NEEDED = (b'"time"', b'"request_time"', b'"status"')


class NginxJson(GatewayFormat):
    """JSON with Fairclock's own keys."""

    name = "nginx-json"
    title = "the JSON of Fairclock's own log_format"
    passes_through = True

    def recognise(self, line: bytes) -> str | None:
        """Recognise the keys without which a line is no request."""
        if line.lstrip().startswith(b"{") and all(key in line for key in _NEEDED):
            return "it has the keys time, request_time and status"
        return None

    def read(self, line: bytes) -> Fields:
        """Return the line's own keys, and the API key in its Authorization header where that was logged."""
        fields = {key: plain(value) for key, value in json_object(line).items()}
        key = bearer_key(fields.get("authorization", "") or fields.get("http_authorization", ""))
        if key:
            fields.setdefault("api_key", key)
        return fields


FORMAT = NginxJson()

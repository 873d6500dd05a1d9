"""Own the OpenAPI 3.1 document: made of the endpoints' table and the models' own JSON schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from fairclock import __version__
from fairclock.console.access.gate import FORM_HEADER
from fairclock.console.api.endpoints import ENDPOINTS
from fairclock.console.problems import MEDIA_TYPE
from fairclock.console.readings.models.problem import Problem

if TYPE_CHECKING:
    from fairclock.console.api.endpoints import Endpoint
    from fairclock.console.api.parameters import Parameter

_REFUSALS = {
    "401": "No token, or one that is not known.",
    "403": "The token does not allow it.",
    "404": "There is nothing of that name for whoever asks.",
    "422": "The question is not well put, or has no answer.",
    "429": "Too many failures from this address.",
    "500": "A fault of the program; its log says more.",
    "503": "The store is away, or the answer takes too long; Retry-After says when to come again.",
}
_FORMATS = {
    "json": "application/json",
    "html": "text/html",
    "pdf": "application/pdf",
    "csv": "text/csv",
}


@cache
def openapi_text() -> str:
    """Return the document as JSON."""
    return json.dumps(openapi(), ensure_ascii=False, sort_keys=False)


def openapi() -> dict[str, Any]:
    """Return the document as plain values."""
    answers = [(each.answers, "serialization") for each in ENDPOINTS]
    bodies = [(each.body, "validation") for each in ENDPOINTS if each.body is not None]
    places, schemas = models_json_schema(
        [*answers, (Problem, "serialization"), *bodies],  # type: ignore[list-item]  # the two modes
        ref_template="#/components/schemas/{model}",
    )
    paths: dict[str, dict[str, Any]] = {}
    for each in ENDPOINTS:
        paths.setdefault(f"/api/v1{each.path}", {})[each.method.lower()] = _operation(each, places)
    paths["/api/v1/reports/{contract}/{file}"] = {"get": _report()}
    paths["/api/v1/openapi.json"] = {
        "get": {
            "operationId": "openapi",
            "summary": "This document.",
            "responses": {
                "200": {
                    "description": "This document.",
                    "content": {"application/vnd.oai.openapi+json": {"schema": {"type": "object"}}},
                },
                **_refusals("401", "429"),
            },
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fairclock",
            "version": __version__,
            "description": "What the console shows, as JSON. Units stand in names; null is not known, never zero;"
            " amounts of money are decimal text; times are UTC.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "fairclock_session"},
            },
        },
        "security": [{"token": []}, {"session": []}, {}],
    }


def _operation(endpoint: Endpoint, places: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [_parameter(each) for each in endpoint.parameters],
        "responses": {
            str(endpoint.status): {
                "description": endpoint.summary,
                "headers": {
                    "ETag": {"schema": {"type": "string"}, "description": "Of the figures, `as_of` aside."}
                },
                "content": {"application/json": {"schema": places[endpoint.answers, "serialization"]}},
            },
            **_refusals("401", "403", "404", "422", "429", "500", "503"),
        },
    }
    if endpoint.method == "GET":
        found["responses"]["304"] = {"description": "The figures are those of the ETag in If-None-Match."}
    if endpoint.body is not None:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": places[endpoint.body, "validation"]}},
        }
        found["parameters"].append(
            {
                "name": FORM_HEADER,
                "in": "header",
                "required": False,
                "description": "From /api/v1/session; not needed with a bearer token.",
                "schema": {"type": "string"},
            }
        )
        found["responses"] |= {
            status: _problem(about)
            for status, about in (("413", "The body is too large."), ("415", "The body is no JSON."))
        }
    return found


def _report() -> dict[str, Any]:
    return {
        "operationId": "report",
        "summary": "One month's report as it is known now: what `fairclock report` writes.",
        "parameters": [
            {
                "name": "contract",
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
            },
            {
                "name": "file",
                "in": "path",
                "required": True,
                "description": "The month and the format: 2026-10.pdf.",
                "schema": {"type": "string", "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])\.(json|html|pdf|csv)$"},
            },
            {
                "name": "lang",
                "in": "query",
                "required": False,
                "schema": {"type": "string", "enum": ["en", "zh"]},
            },
        ],
        "responses": {
            "200": {
                "description": "The report.",
                "content": {
                    media: {"schema": {"type": "object"} if form == "json" else {"type": "string"}}
                    for form, media in _FORMATS.items()
                },
            },
            **_refusals("401", "403", "404", "422", "429", "500", "503"),
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.about,
        "schema": dict(parameter.schema),
    }
    if parameter.example is not None:
        found["example"] = parameter.example
    return found


def _refusals(*statuses: str) -> dict[str, Any]:
    return {status: _problem(_REFUSALS[status]) for status in statuses}


def _problem(about: str) -> dict[str, Any]:
    return {
        "description": about,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }

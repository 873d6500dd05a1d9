"""Own the clauses of one price version: what each thing costs, for whom, and what is adjusted at close."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from billing.prices.fields import Share, Texts
from billing.prices.parties import NamesClause
from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Count, Number, PositiveCount, PositiveNumber, Text


class Kind(StrEnum):
    """What is charged for, in the order of a statement's lines."""

    REQUESTS = "requests"
    UNCACHED_PROMPT = "uncached_prompt"
    CACHED_PROMPT = "cached_prompt"
    COMPLETION = "completion"
    GPU_SECONDS = "gpu_seconds"


TOKEN_KINDS = (Kind.UNCACHED_PROMPT, Kind.CACHED_PROMPT, Kind.COMPLETION)
Volume = Literal["requests", "uncached_prompt", "cached_prompt", "completion", "tokens", "gpu_seconds"]


def kinds_of(volume: str) -> tuple[Kind, ...]:
    """Return what a volume is counted in: ``tokens`` are the three classes together."""
    return TOKEN_KINDS if volume == "tokens" else (Kind(volume),)


class TokenPrices(Clause):
    """What so many (`per`) tokens of each class cost."""

    per: PositiveCount
    uncached_prompt: Number
    cached_prompt: Number
    completion: Number


class ModelTerms(Clause):
    """What a model costs: the weight of the base fee, and its own token prices where it has some."""

    weight: Number
    tokens: TokenPrices | None = None


class ModelPrice(ModelTerms):
    """What the model of a name costs."""

    name: Text


class MachinePrice(Clause):
    """What a GPU-second of a machine costs the tenant (`price`) and the provider (`cost`; absent: the same)."""

    gpu: Text
    mig: Text | None = None
    price: Number
    cost: Number | None = None

    @property
    def name(self) -> str:
        """Return the name as the driver writes it: ``NVIDIA H200 MIG 1g.18gb``."""
        return self.gpu if self.mig is None else f"{self.gpu} MIG {self.mig}"


class Assignment(Clause):
    """Whose usage is of a deployment: all conditions given must hold."""

    deployment: Text = Field(alias="to")
    tenants: Texts | None = None
    models: Texts | None = None
    machines: Texts | None = None

    def fits(self, *, tenant: str, model: str, machine: str) -> bool:
        """Tell whether usage is meant."""
        asked = ((self.tenants, tenant), (self.models, model), (self.machines, machine))
        return all(names is None or found in names for names, found in asked)


class Deployments(Clause):
    """The factor of each deployment, and who has which; the first assignment that fits holds."""

    factors: Annotated[dict[str, PositiveNumber], Field(min_length=1)]
    default: Text
    assigned: tuple[Assignment, ...] = ()


Charged = Literal["all", "nothing", "requests", "tokens", "gpu_seconds"]


def _charged(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class TreatmentTerms(Clause):
    """What of a request's usage is charged, and which share of its price."""

    charge: Annotated[
        tuple[Charged, ...],
        Field(min_length=1),
        BeforeValidator(_charged, json_schema_input_type=Charged | tuple[Charged, ...]),
    ]
    share: Share = Fraction(1)

    def share_of(self, kind: Kind) -> Fraction:
        """Return the share of the price at which `kind` is charged."""
        names = {"all", "tokens" if kind in TOKEN_KINDS else kind.value}
        return self.share if names & set(self.charge) else Fraction(0)


def _terms(value: Any) -> Any:
    return {"charge": value} if isinstance(value, (str, tuple)) else value


def _write_terms(value: TreatmentTerms) -> Any:
    written = value.model_dump()
    return list(written["charge"]) if value.share == 1 else written


TreatmentClause = Annotated[
    TreatmentTerms,
    BeforeValidator(_terms, json_schema_input_type=Charged | tuple[Charged, ...] | TreatmentTerms),
    PlainSerializer(_write_terms),
]


class Treatments(Clause):
    """What is charged of requests that did not end well; those that did are charged whole, probes never."""

    aborted: TreatmentClause
    incomplete: TreatmentClause
    refused: TreatmentClause
    retried: TreatmentClause


class Included(Clause):
    """A volume that costs nothing each month: what was received first."""

    volume: Volume = Field(alias="of")
    models: Texts | None = None
    quantity: PositiveCount


class Step(Clause):
    """From how much on (`from`) which price, or which discount, holds."""

    start: Count = Field(alias="from")
    price: Number | None = None
    discount: Share | None = None


class Tier(Clause):
    """Prices by a month's volume: of each step's own part (`graduated`), or of the whole volume (`volume`)."""

    volume: Volume = Field(alias="of")
    models: Texts | None = None
    counted: Literal["graduated", "volume"]
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]


class Minimum(Clause):
    """What a tenant pays at least each month, net, before credits.

    without_use: whether the tenants that the book's `customers` name owe it for a month of which nothing is charged, too.
    """

    per_month: PositiveNumber
    without_use: Literal["owed", "nothing"] = "nothing"


class Tax(Clause):
    """The tax on all that is charged; prices are net of it."""

    rate: Share
    name: NamesClause | None = None


class Ceiling(Clause):
    """What a call of a length class may cost on average; above it a condition is raised."""

    length_class: Literal["short", "medium", "long", "long_context"]
    per_call: PositiveNumber


class Budget(Clause):
    """What some tenants mean to spend a month together; above it, or headed there, a condition is raised."""

    tenants: Texts
    per_month: PositiveNumber

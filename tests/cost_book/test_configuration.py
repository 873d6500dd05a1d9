"""The section billing.gpu_time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from billing.cost_book.configuration import GpuTimeSection
from fairclock.config import parse_configuration
from fairclock.errors import ConfigurationError


def read(text):
    return parse_configuration(text.encode(), GpuTimeSection, where="fairclock.yaml")


def test_engines_and_their_machines_are_read():
    section = read(
        "engines:\n- {engine: a, machine: NVIDIA H200, gpus: 4, until: 2026-10-01T08:00:00+08:00}\n"
        "- {engine: a, machine: NVIDIA H200 MIG 1g.18gb, gpus: 1/7, since: 2026-10-01T00:00:00Z, max_num_seqs: 8}\n"
        "ceiling_gpu_seconds: 0.1\nprobe_tenants: [p]\n"
    )
    settings = section.settings()
    before, after = settings.machines
    assert (before.gpus, before.machine, before.to_us) == (4, "NVIDIA H200", after.from_us)
    assert (after.gpus, after.max_num_seqs) == (Fraction(1, 7), 8)
    assert settings.ceiling_seconds == Fraction(1, 10)
    assert settings.probe_tenants == {"p"}


REFUSED = {
    "two machines at one time": ("engines: [{engine: a}, {engine: a, gpus: 2}]", "gives a two machines at one time"),
    "a fraction of nothing": ("engines: [{engine: a, gpus: 1/0}]", "is not a number of GPUs"),
    "no GPU at all": ("engines: [{engine: a, gpus: 0}]", "is not a possible number of GPUs"),
    "slots that nobody knows": ("{division: per_slot, engines: [{engine: a}]}", "without all engines' max_num_seqs"),
    "an instant without a zone": ("engines: [{engine: a, since: 2026-10-01T00:00:00}]", "has no zone"),
    "an end before the beginning": ("engines: [{engine: a, since: 2026-10-01T00:00:00Z, until: 2026-09-01T00:00:00Z}]", "ends the machine of a before it begins"),
    "a division that there is not": ("division: fair", "division"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused(text, words):
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    assert words in str(caught.value)

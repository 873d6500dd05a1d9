"""The simulated tenants' contracts."""

from __future__ import annotations

import pytest

from fairclock.demo.contract_files import MONTH_CONTRACTS, TRACE_CONTRACTS, write_contracts
from fairclock.demo.month import month_of
from fairclock.demo.tenants import TENANTS
from fairclock.demo.trace import TENANT
from sla.contracts import examine


@pytest.fixture(params=MONTH_CONTRACTS + TRACE_CONTRACTS)
def examined(request, tmp_path):
    (path,) = write_contracts((request.param,), month=month_of("2026-10"), folder=tmp_path)
    return examine(path.read_bytes())


def test_a_contract_has_no_problem_and_nothing_in_it_stays_unevaluated_once_it_is_rated(examined):
    assert not examined.problems
    assert set(examined.contract.not_evaluated()) <= {"credits", "prices"}


def test_a_contract_is_of_a_simulated_tenant_and_its_models(examined):
    tenants = {each.name: each for each in (*TENANTS, TENANT)}
    (name,) = examined.contract.customer.tenants
    assert examined.contract.scope.models == (tenants[name].model,)
    assert examined.contract.scope.routes in ((), (tenants[name].uri,))


def test_every_tenant_of_the_month_has_one_contract_in_force_in_that_year(tmp_path):
    paths = write_contracts(MONTH_CONTRACTS, month=month_of("2031-02"), folder=tmp_path)
    contracts = [examine(path.read_bytes()).contract for path in paths]
    assert sorted(name for each in contracts for name in each.customer.tenants) == sorted(
        each.name for each in TENANTS
    )
    assert {each.term.first_day.year for each in contracts} == {2031}

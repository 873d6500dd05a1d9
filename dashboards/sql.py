"""Own the pieces that the ClickHouse queries share: the range of a dashboard, exact percentiles, budgets, coverage.

A range is whole minutes, from the one that holds its start to before the one that holds its end, as slices and reports have
it: Grafana's 23:59:59 and midnight end the same day.
"""

from __future__ import annotations

CONTRACTS = "contract IN (${contract:singlequote})"
FROM = "toStartOfMinute($__fromTime)"
TO = "toStartOfMinute($__toTime + 59)"


def inside(column: str) -> str:
    """Return the condition that an instant lies in the range."""
    return f"{column} >= {FROM} AND {column} < {TO}"


SLICES = f"FROM dashboard_slices WHERE {CONTRACTS} AND {inside('minute')}"
OBJECTIVES = f"FROM dashboard_objectives WHERE {CONTRACTS} AND {inside('minute')}"


def touching(start: str, end: str) -> str:
    """Return the condition that an interval has an instant in the range."""
    return f"{start} < {TO} AND {end} > {FROM}"


def percentile(percent: str, column: str) -> str:
    """Return the nearest rank of the values that are known, NULL where none is: the engine's exact quantile, a hair below."""
    level = f"{float(percent) / 100 - 1e-12:.12f}"
    return f"if(count({column}) = 0, NULL, quantileExact({level})(assumeNotNull({column})))"


def percentile_if(percent: str, column: str, condition: str) -> str:
    """Return `percentile` of the rows that meet a condition; the column is known in each of them."""
    level = f"{float(percent) / 100 - 1e-12:.12f}"
    return (
        f"if(countIf({condition}) = 0, NULL, quantileExactIf({level})(assumeNotNull({column}), {condition}))"
    )


def budgets(where: str = CONTRACTS) -> str:
    """Return the query for (contract, objective, counted_requests, over_requests, allowed_requests, left_ratio) in the range.

    What may be over is cut to whole requests for each version, as the report cuts it.
    """
    return (
        "SELECT contract, objective, sum(n) AS counted_requests, sum(o) AS over_requests, sum(a) AS allowed_requests,"
        " if(allowed_requests = 0, NULL, (toInt64(allowed_requests) - toInt64(over_requests)) / allowed_requests) AS left_ratio,"
        " any(limit_seconds) AS threshold, any(clock_name) AS clock"
        " FROM (SELECT contract, version, objective, sum(counted) AS n, sum(over) AS o, intDiv(n * share_of, share_in) AS a,"
        " any(threshold_seconds) AS limit_seconds, any(clock) AS clock_name"
        f" FROM dashboard_objectives WHERE {where} AND {inside('minute')} AND share_of > 0"
        " GROUP BY contract, version, objective, share_of, share_in) GROUP BY contract, objective"
    )


def burning(series: str) -> str:
    """Return the query for how fast the budget of each `series` is spent over time."""
    return (
        f"SELECT $__timeInterval(minute) AS time, {series} AS series,"
        ' sum(over) * any(share_in) / (sum(counted) * any(share_of)) AS "[[burn]]"'
        f" {OBJECTIVES} AND share_of > 0 GROUP BY time, series HAVING sum(counted) > 0 ORDER BY time, series"
    )


PROMISES = (
    'objective AS "[[objective]]", clock AS "[[clock]]", threshold AS "[[promised]]",'
    ' counted_requests AS "[[counted]]", over_requests AS "[[over]]", allowed_requests AS "[[allowed]]", left_ratio AS "[[left]]",'
    " multiIf(counted_requests = 0, 'not_measured', over_requests > allowed_requests, 'at_risk', 'within') AS \"[[state]]\""
)
"""What is shown of each row of `budgets`."""


def coverage(where: str = CONTRACTS) -> str:
    """Return the query for (contract, gateway_ratio, engine_ratio): covered by elapsed time, as far as was counted."""
    return (
        "SELECT contract, if(sum(elapsed) = 0, NULL, sum(gateway) / sum(elapsed)) AS gateway_ratio,"
        " if(sum(elapsed) = 0, NULL, sum(engine) / sum(elapsed)) AS engine_ratio FROM"
        " (SELECT held.contract AS contract, ifNull(read.gateway, 0) AS gateway, ifNull(read.engine, 0) AS engine,"
        " greatest(0, toUnixTimestamp64Micro(least(held.in_force_to, done.as_of, toDateTime64("
        f"{TO}, 6, 'UTC'))) - toUnixTimestamp64Micro(greatest(held.in_force_from, toDateTime64({FROM}, 6, 'UTC')))) AS elapsed"
        f" FROM (SELECT contract, version, in_force_from, in_force_to FROM dashboard_versions WHERE {where}) AS held"
        f" INNER JOIN (SELECT contract, version, as_of FROM dashboard_progress WHERE {where}) AS done"
        " ON held.contract = done.contract AND held.version = done.version"
        " LEFT JOIN (SELECT contract, version, sum(gateway_us) AS gateway, sum(engine_us) AS engine FROM dashboard_slices"
        f" WHERE {where} AND {inside('minute')} GROUP BY contract, version) AS read"
        " ON held.contract = read.contract AND held.version = read.version) GROUP BY contract"
    )

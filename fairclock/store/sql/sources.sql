-- How much of a window each source was read through: touching notes are put together, as in covered.sql.
WITH noted AS
(
    SELECT
        kind,
        source,
        covered_from,
        covered_to,
        covered_from > max(covered_to) OVER (PARTITION BY kind, source ORDER BY covered_from, covered_to ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
    FROM covered
    WHERE toUnixTimestamp64Micro(stored_at) <= {as_of_us:Int64}
        AND toUnixTimestamp64Micro(covered_from) < {end_us:Int64}
        AND toUnixTimestamp64Micro(covered_to) > {start_us:Int64}
),
numbered AS
(
    SELECT *, sum(begins) OVER (PARTITION BY kind, source ORDER BY covered_from, covered_to ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stretch
    FROM noted
),
stretches AS
(
    SELECT
        kind,
        source,
        max(covered_to) AS ended_at,
        least(toUnixTimestamp64Micro(max(covered_to)), {end_us:Int64}) - greatest(toUnixTimestamp64Micro(min(covered_from)), {start_us:Int64}) AS length_us
    FROM numbered
    GROUP BY kind, source, stretch
)
SELECT kind, source, max(ended_at), sum(length_us) FROM stretches GROUP BY kind, source ORDER BY kind, source

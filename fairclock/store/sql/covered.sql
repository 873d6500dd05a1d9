-- The union of what was read through: a running collector notes an interval every few seconds, half a million a
-- month, so that touching ones are put together here.
WITH noted AS
(
    SELECT
        covered_from,
        covered_to,
        covered_from > max(covered_to) OVER (ORDER BY covered_from, covered_to ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
    FROM covered
    WHERE kind = {kind:String}
        AND toUnixTimestamp64Micro(stored_at) <= {as_of_us:Int64}
        AND toUnixTimestamp64Micro(covered_from) < {end_us:Int64}
        AND toUnixTimestamp64Micro(covered_to) > {start_us:Int64}
),
numbered AS
(
    SELECT *, sum(begins) OVER (ORDER BY covered_from, covered_to ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stretch
    FROM noted
)
SELECT min(covered_from), max(covered_to) FROM numbered GROUP BY stretch ORDER BY stretch

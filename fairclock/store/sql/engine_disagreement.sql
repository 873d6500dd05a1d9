-- How far a span and the plugin's record of the same request differ, field by field, in what both report.
--
-- Parameters: engine_from_us and engine_to_us (arrival, half-open), as_of_wins.
-- A pair is an id that each reported exactly once in that time: there alone it is certain which record is whose, even where
-- they differ. One row a field: its name, the pairs where both know it, those that differ, the median and the greatest
-- difference (microseconds, or tokens).
SELECT
    difference.1 AS field,
    count() AS pairs,
    countIf(difference.2 != 0) AS differing,
    quantileExactLow(0.5)(difference.2) AS median_difference,
    max(difference.2) AS greatest_difference
FROM
(
    SELECT
        anyIf(row, NOT is_plugin) AS span,
        anyIf(row, is_plugin) AS plugin,
        arrayJoin(arrayMap(
            (name, one, other) -> (name, toInt64(abs(ifNull(one - other, 0))), isNotNull(one - other)),
            ['arrived', 'end_to_end', 'queue', 'prefill', 'decode', 'prompt_tokens', 'completion_tokens'], span, plugin)) AS difference
    FROM
    (
        SELECT
            request_id,
            reporter = 'plugin' AS is_plugin,
            CAST([toUnixTimestamp64Micro(arrived_at), end_to_end_us, queue_us, prefill_us, decode_us, prompt_tokens, completion_tokens],
                 'Array(Nullable(Int64))') AS row
        FROM engine_requests FINAL
        WHERE arrived_at >= fromUnixTimestamp64Micro({engine_from_us:Int64}, 'UTC')
            AND arrived_at < fromUnixTimestamp64Micro({engine_to_us:Int64}, 'UTC')
            AND first_wins >= {as_of_wins:UInt64}
            AND request_id != ''
    )
    GROUP BY request_id
    HAVING countIf(is_plugin) = 1 AND countIf(NOT is_plugin) = 1
)
WHERE difference.3
GROUP BY field
ORDER BY field

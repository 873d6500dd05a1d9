-- What engines reported of sequences, by engine and hour: a row for each sequence counts, whether anybody asked for it or not.
--
-- Reads `engine_rows`. Parameters: hours_from_us, hours_to_us. A prompt counts in the hour of its first token, all else in that of the
-- sequence's end, as the engine's front end counts them; of an impossible time the arrival stands for both.
-- Columns: instance, hour_us, prompt_tokens, cached_tokens, completion_tokens, sequences.
WITH sequences AS
(
    SELECT
        toString(instance) AS instance, toUnixTimestamp64Micro(arrived_at) AS arrived_us,
        if(end_to_end_us BETWEEN 0 AND 86400000000, end_to_end_us, 0) AS took_us,
        arrived_us + least(greatest(ifNull(time_to_first_token_us, queue_us + prefill_us), 0), took_us) AS first_us,
        arrived_us + took_us AS done_us,
        toInt64(ifNull(prompt_tokens, 0)) AS prompt, toInt64(ifNull(cached_tokens, 0)) AS cached, toInt64(ifNull(completion_tokens, 0)) AS completion
    FROM engine_rows
)
SELECT instance, intDiv(at.1, 3600000000) * 3600000000 AS hour_us, sum(at.2), sum(at.3), sum(at.4), sum(at.5)
FROM sequences
ARRAY JOIN [(first_us, prompt, cached, toInt64(0), toInt64(0)), (done_us, toInt64(0), toInt64(0), completion, toInt64(1))] AS at
WHERE at.1 >= {hours_from_us:Int64} AND at.1 < {hours_to_us:Int64}
GROUP BY instance, hour_us
ORDER BY instance, hour_us

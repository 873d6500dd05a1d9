-- One row for each sequence that arrived in some time, whoever reported it: a span, the plugin inside vLLM, or both.
--
-- Parameters: engine_from_us and engine_to_us (arrival, half-open), as_of_wins (as in join_hours.sql).
-- Span and plugin take a request's durations from the same numbers of vLLM. So a span and a record of one request id, with
-- the same queue, prefill and decode to the microsecond, are one row; of several that agree in all that (sequences that
-- ended in one step) the first is the first's. Rows without a request id are nobody's other half.
-- What both know is the span's: nothing that was judged changes because a plugin was installed. The trace and the time to
-- first token are the span's anyway; the rest is the plugin's. An unknown value of one is the other's (argMin and argMax
-- pass over NULL). How far the two differ is for engine_disagreement.sql to say.
WITH reported AS
(
    SELECT
        *,
        reporter = 'plugin' AS is_plugin,
        sipHash128(request_id, queue_us, prefill_us, decode_us, if(request_id = '', content_hash, 0)) AS same
    FROM engine_requests FINAL
    WHERE arrived_at >= fromUnixTimestamp64Micro({engine_from_us:Int64}, 'UTC')
        AND arrived_at < fromUnixTimestamp64Micro({engine_to_us:Int64}, 'UTC')
        AND first_wins >= {as_of_wins:UInt64}
)
SELECT
    argMin(arrived_at, is_plugin) AS arrived_at,
    argMin(content_hash, is_plugin) AS content_hash,
    argMin(k, is_plugin) AS k,
    argMin(trace_id, is_plugin) AS trace_id,
    argMin(span_id, is_plugin) AS span_id,
    any(request_id) AS request_id,
    any(join_id) AS join_id,
    any(sequence) AS sequence,
    argMax(instance, is_plugin) AS instance,
    max(model) AS model,
    argMin(end_to_end_us, is_plugin) AS end_to_end_us,
    any(queue_us) AS queue_us,
    any(prefill_us) AS prefill_us,
    any(decode_us) AS decode_us,
    argMin(time_to_first_token_us, is_plugin) AS time_to_first_token_us,
    argMin(prompt_tokens, is_plugin) AS prompt_tokens,
    argMin(cached_tokens, is_plugin) AS cached_tokens,
    argMin(completion_tokens, is_plugin) AS completion_tokens,
    max(finish_reason) AS finish_reason,
    multiIf(min(is_plugin) != max(is_plugin), 'both', any(reporter)) AS reporter,
    argMax(engine_rank, is_plugin) AS engine_rank,
    argMax(preemptions, is_plugin) AS preemptions,
    max(simulated) AS simulated,
    argMin(source, is_plugin) AS source,
    min(first_wins) AS first_wins
FROM (SELECT *, row_number() OVER (PARTITION BY same, is_plugin ORDER BY arrived_at, content_hash, k) AS nth FROM reported)
GROUP BY same, nth

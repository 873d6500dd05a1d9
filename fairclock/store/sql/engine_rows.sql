-- One row for each sequence that arrived in some time, whoever reported it: a span, the plugin inside vLLM, or both.
--
-- Parameters: engine_from_us and engine_to_us (arrival, half-open), as_of_wins (as in join_hours.sql).
-- Span and plugin take a request's durations from the same numbers of vLLM. So a span and a record of one request id, with
-- the same queue, prefill and decode to the microsecond, are one row; of several that agree in all that (sequences that
-- ended in one step) as many are left as the side has that saw more. Rows without a request id are nobody's other half.
-- What both know is the span's: nothing that was judged changes because a plugin was installed. The trace and the time to
-- first token are the span's anyway; the rest is the plugin's. An unknown value of one is the other's.
-- How far the two differ is for engine_disagreement.sql to say.
SELECT
    arrived_at, hashes[nth] AS content_hash, k, trace_id, span_id, request_id, join_id, sequence, instance, model,
    end_to_end_us, queue_us, prefill_us, decode_us, time_to_first_token_us, prompt_tokens, cached_tokens,
    if(completions[nth] < 0, NULL, CAST(completions[nth], 'Nullable(UInt32)')) AS completion_tokens,
    finish_reason, reporter, engine_rank, preemptions, simulated, source, first_wins
FROM
(
    SELECT
        argMin(arrived_at, is_plugin) AS arrived_at,
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
        groupArrayIf(completion, NOT is_plugin) AS span_completions,
        groupArrayIf(completion, is_plugin) AS plugin_completions,
        groupArrayIf(content_hash, NOT is_plugin) AS span_hashes,
        groupArrayIf(content_hash, is_plugin) AS plugin_hashes,
        length(span_hashes) >= length(plugin_hashes) AS spans_suffice,
        -- in an order that does not depend on that of the parts
        arraySort(if(spans_suffice, span_completions, plugin_completions)) AS completions,
        arraySort(if(spans_suffice, span_hashes, plugin_hashes)) AS hashes,
        max(finish_reason) AS finish_reason,
        multiIf(empty(plugin_hashes), 'span', empty(span_hashes), 'plugin', 'both') AS reporter,
        argMax(engine_rank, is_plugin) AS engine_rank,
        argMax(preemptions, is_plugin) AS preemptions,
        max(simulated) AS simulated,
        argMin(source, is_plugin) AS source,
        min(first_wins) AS first_wins,
        arrayJoin(arrayEnumerate(hashes)) AS nth
    FROM
    (
        SELECT
            *,
            reporter = 'plugin' AS is_plugin,
            toInt64(ifNull(completion_tokens, -1)) AS completion,
            sipHash128(request_id, queue_us, prefill_us, decode_us, if(request_id = '', content_hash, 0)) AS same
        FROM engine_requests FINAL
        WHERE arrived_at >= fromUnixTimestamp64Micro({engine_from_us:Int64}, 'UTC')
            AND arrived_at < fromUnixTimestamp64Micro({engine_to_us:Int64}, 'UTC')
            AND first_wins >= {as_of_wins:UInt64}
    )
    GROUP BY same
)

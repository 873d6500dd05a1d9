-- What ran on the engines: a row for each sequence that an engine reported, and whose it was where its trace tells.
--
-- Reads `engine_rows` (one row a sequence) and `joined` (requests as of the same instant). row_id is the request's, 0 if not found here.
-- A sequence runs from its first scheduling to its last token, on its engine's clock: it was scheduled its prefill before its
-- first token, or, where nobody tells when that came, its queue after its arrival. Rows that say impossible things are
-- left out; a sequence longer than a day says one.
-- Who it belongs to was decided when it was joined (docs/decisions/0003-joining.md), and is found again: a request's own
-- clocks are its last sequence's to the microsecond. All others are looked for in engine_owners.sql.
WITH
    toInt64(2000) AS resolution_us,
    by_trace AS
    (
        SELECT trace_id, prefill_us, decode_us, any(reinterpretAsUInt128(sipHash128(content_hash, k))) AS request, any(tenant) AS owner
        FROM joined
        WHERE engine = 'joined' AND reinterpretAsUInt128(trace_id) != 0
        GROUP BY trace_id, prefill_us, decode_us
        HAVING count() = 1
    ),
    sequences AS
    (
        SELECT
            instance, prefill_us, decode_us,
            toUnixTimestamp64Micro(arrived_at) AS arrived_us,
            if(ifNull(time_to_first_token_us, -1) BETWEEN queue_us + prefill_us - resolution_us AND end_to_end_us - decode_us + resolution_us,
                greatest(ifNull(time_to_first_token_us, 0) - prefill_us, 0), queue_us) AS waited_us,
            arrived_us + waited_us AS begun_us,
            begun_us + prefill_us + decode_us AS ended_us,
            -- when its front end counted the prompt, and the end
            arrived_us + ifNull(time_to_first_token_us, queue_us + prefill_us) AS first_us,
            arrived_us + end_to_end_us AS done_us,
            toInt64(ifNull(prompt_tokens, 0)) AS prompt, toInt64(ifNull(cached_tokens, 0)) AS cached, toInt64(ifNull(completion_tokens, 0)) AS completion,
            trace_id, join_id
        FROM engine_rows
        WHERE queue_us >= 0 AND prefill_us >= 0 AND decode_us >= 0
            AND end_to_end_us - queue_us - prefill_us - decode_us >= -resolution_us AND end_to_end_us <= 86400000000
    )
SELECT
    sequences.instance AS instance, by_trace.request AS row_id, toString(by_trace.owner) AS tenant,
    greatest(prompt + completion, 1) AS weight, prompt + completion AS kv_tokens, begun_us, ended_us, toUInt8(0) AS is_left, first_us, done_us,
    prompt AS prompt_tokens, cached AS cached_tokens, completion AS completion_tokens,
    sequences.trace_id AS trace_id, join_id, sequences.prefill_us AS prefill_us, sequences.decode_us AS decode_us, arrived_us
FROM sequences
LEFT JOIN by_trace ON by_trace.trace_id = sequences.trace_id AND by_trace.prefill_us = sequences.prefill_us AND by_trace.decode_us = sequences.decode_us

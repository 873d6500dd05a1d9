-- What ran on the engines: a row for each sequence that an engine reported, with the request that it belongs to, if any.
--
-- Reads `engine_rows` (one row a sequence) and `joined` (requests as of the same instant). Columns: instance, row_id (the
-- request's; 0 is nobody's), tenant, weight, kv_tokens, begun_us, ended_us, is_left (0), first_us and done_us (when its front end counted the
-- prompt, and the end), prompt_tokens, cached_tokens, completion_tokens.
-- A sequence runs from its first scheduling to its last token, on its engine's clock: it was scheduled its prefill before its
-- first token, or, where nobody tells when that came, its queue after its arrival. Rows that say impossible things are
-- left out; a sequence longer than a day says one.
-- Who it belongs to was decided when it was joined (docs/decisions/0003-joining.md), and is found again: a request's own
-- clocks are its last sequence's to the microsecond. The others, of attempts before and of several answers to one prompt, are
-- the only joined request's that has their trace, or their id within five minutes. What two could claim is nobody's.
WITH
    toInt64(2000) AS resolution_us,
    toInt64(300000000) AS reach_us,
    requests_joined AS
    (
        SELECT
            trace_id, request_id, prefill_us, decode_us, tenant, received_at,
            reinterpretAsUInt128(sipHash128(content_hash, k)) AS request
        FROM joined
        WHERE engine = 'joined'
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
            toInt64(ifNull(prompt_tokens, 0)) AS prompt, toInt64(ifNull(cached_tokens, 0)) AS cached, toInt64(ifNull(completion_tokens, 0)) AS completion,
            prompt + completion AS kv_tokens,
            -- when its front end counted the prompt, and the end
            arrived_us + ifNull(time_to_first_token_us, queue_us + prefill_us) AS first_us,
            arrived_us + end_to_end_us AS done_us,
            trace_id, join_id
        FROM engine_rows
        WHERE queue_us >= 0 AND prefill_us >= 0 AND decode_us >= 0
            AND end_to_end_us - queue_us - prefill_us - decode_us >= -resolution_us AND end_to_end_us <= 86400000000
    ),
    by_trace AS
    (
        SELECT trace_id, prefill_us, decode_us, any(request) AS request, any(tenant) AS tenant
        FROM requests_joined
        WHERE reinterpretAsUInt128(trace_id) != 0
        GROUP BY trace_id, prefill_us, decode_us
        HAVING count() = 1
    ),
    by_id AS
    (
        SELECT request_id, prefill_us, decode_us, any(request) AS request, any(tenant) AS tenant
        FROM requests_joined
        WHERE request_id != ''
        GROUP BY request_id, prefill_us, decode_us
        HAVING count() = 1
    ),
    of_trace AS
    (
        SELECT trace_id, any(request) AS request, any(tenant) AS tenant
        FROM requests_joined
        WHERE reinterpretAsUInt128(trace_id) != 0
        GROUP BY trace_id
        HAVING count() = 1
    ),
    of_id AS
    (
        SELECT request_id, any(request) AS request, any(tenant) AS tenant, any(toUnixTimestamp64Micro(received_at)) AS received_us
        FROM requests_joined
        WHERE request_id != ''
        GROUP BY request_id
        HAVING count() = 1
    ),
    owned AS
    (
        SELECT
            sequences.*,
            abs(arrived_us - of_id.received_us) <= reach_us AS is_near,
            multiIf(by_trace.request != 0, by_trace.request, by_id.request != 0, by_id.request, of_trace.request != 0, of_trace.request,
                of_id.request != 0 AND is_near, of_id.request, 0) AS row_id,
            multiIf(by_trace.request != 0, by_trace.tenant, by_id.request != 0, by_id.tenant, of_trace.request != 0, of_trace.tenant,
                of_id.request != 0 AND is_near, of_id.tenant, '') AS tenant
        FROM sequences
        LEFT JOIN by_trace ON by_trace.trace_id = sequences.trace_id AND by_trace.prefill_us = sequences.prefill_us AND by_trace.decode_us = sequences.decode_us
        LEFT JOIN by_id ON by_id.request_id = sequences.join_id AND by_id.prefill_us = sequences.prefill_us AND by_id.decode_us = sequences.decode_us
        LEFT JOIN of_trace ON of_trace.trace_id = sequences.trace_id
        LEFT JOIN of_id ON of_id.request_id = sequences.join_id
    )
SELECT
    toString(instance) AS instance, row_id, toString(tenant) AS tenant, greatest(kv_tokens, 1) AS weight, kv_tokens, begun_us, ended_us,
    0 AS is_left, first_us, done_us, prompt AS prompt_tokens, cached AS cached_tokens, completion AS completion_tokens
FROM owned

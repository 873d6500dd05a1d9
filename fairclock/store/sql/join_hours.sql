-- Join the gateway's requests of some hours with the engine's rows.
--
-- Parameters: hours_us (starts), first_us and last_us (from the first hour's start to the last hour's end),
-- as_of_wins (a raw row was stored by as_of iff its first_wins is at least this).
-- Each hour is joined on its own, from the rows up to 10 minutes around it: an hour gives the same rows
-- whether it is joined alone, among others, live, or for its seal. docs/decisions/0003-joining.md has the rules.
-- Every step is a table of its own, used once: the engine writes an alias out wherever it is used, and runs
-- a table that is used twice twice.
WITH
    toInt64(3600000000) AS hour_us,
    toInt64(600000000) AS margin_us,   -- what is read around an hour
    toInt64(300000000) AS reach_us,    -- how far apart a request and its engine row may lie if both are alone with their id
    toInt64(1000000) AS skew_us,       -- what the hosts' clocks may differ beyond the learned offset
    toInt64(2000) AS resolution_us,    -- what a gateway's milliseconds can hide

    -- both sides' rows in one stream, once for every hour that they may matter to
    records AS
    (
        SELECT
            arrayJoin(arrayFilter(start -> received_us >= start - margin_us AND received_us < start + hour_us + margin_us, {hours_us:Array(Int64)})) AS hour,
            1 AS is_gateway,
            reinterpretAsUInt128(trace_id) AS trace_key,
            if(request_id = '', 0, reinterpretAsUInt128(sipHash128(request_id))) AS id_key,
            toUnixTimestamp64Micro(received_at) AS received_us,
            received_us + responded_us AS done_us,
            received_us + ifNull(forwarded_us, 0) AS instant_us,
            content_hash AS tie, k AS occurrence, attempts AS logged_attempts,
            '' AS instance, toUInt16(0) AS sequence,
            toInt64(0) AS engine_us, toInt64(0) AS queue_us, toInt64(0) AS prefill_us, toInt64(0) AS decode_us,
            CAST(NULL, 'Nullable(Int64)') AS first_token_us,
            CAST(NULL, 'Nullable(UInt32)') AS prompt, CAST(NULL, 'Nullable(UInt32)') AS cached, CAST(NULL, 'Nullable(UInt32)') AS completion
        FROM gateway_requests FINAL
        WHERE received_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
            AND received_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
            AND first_wins >= {as_of_wins:UInt64}
        UNION ALL
        SELECT
            arrayJoin(arrayFilter(start -> arrived_us >= start - margin_us AND arrived_us < start + hour_us + margin_us, {hours_us:Array(Int64)})),
            0,
            reinterpretAsUInt128(trace_id),
            if(join_id = '', 0, reinterpretAsUInt128(sipHash128(join_id))),
            toUnixTimestamp64Micro(arrived_at) AS arrived_us, arrived_us, arrived_us,
            content_hash, k, toUInt8(0),
            toString(instance), sequence, end_to_end_us, queue_us, prefill_us, decode_us, time_to_first_token_us,
            prompt_tokens, cached_tokens, completion_tokens
        FROM engine_requests FINAL
        WHERE arrived_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
            AND arrived_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
            AND first_wins >= {as_of_wins:UInt64}
    ),
    by_trace AS
    (
        SELECT
            *,
            if(trace_key = 0, 0, countIf(is_gateway) OVER same_trace) AS trace_gateways,
            if(trace_key = 0, 0, countIf(NOT is_gateway) OVER same_trace) AS trace_engines,
            maxIf(instant_us, is_gateway) OVER same_trace AS trace_instant_us
        FROM records
        WINDOW same_trace AS (PARTITION BY hour, trace_key)
    ),
    -- a row whose trace has both sides is matched by the trace, and only by it
    keyed AS
    (
        SELECT
            *,
            trace_gateways > 0 AND trace_engines > 0 AS traced,
            if(traced, trace_key, id_key) AS key,
            -- the host's offset, learned where the trace leaves no doubt
            if(is_gateway, 0, ifNull(quantileExactLowIf(0.5)(instant_us - trace_instant_us, trace_gateways = 1 AND trace_engines = 1)
                OVER (PARTITION BY hour, is_gateway, instance), 0)) AS offset_us
        FROM by_trace
    ),
    placed AS
    (
        SELECT
            *,
            instant_us - offset_us AS at,
            (at, NOT is_gateway, tie, occurrence) AS place,
            CAST((is_gateway, at, received_us, done_us, tie, occurrence, logged_attempts),
                 'Tuple(valid UInt8, at Int64, received_us Int64, done_us Int64, hash UInt128, occurrence UInt16, logged_attempts UInt8)') AS me
        FROM keyed
        WHERE key != 0
    ),
    neighbours AS
    (
        SELECT
            *,
            countIf(is_gateway) OVER same_key AS gateways,
            countIf(NOT is_gateway) OVER same_key AS engines,
            anyIf(me, is_gateway) OVER same_key AS only_gateway,
            groupArrayLastIf(2)(me, is_gateway) OVER (PARTITION BY hour, traced, key ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS two_earlier,
            groupArrayLastIf(2)(me, is_gateway) OVER (PARTITION BY hour, traced, key ORDER BY place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS two_later
        FROM placed
        WINDOW same_key AS (PARTITION BY hour, traced, key)
    ),
    reachable AS
    (
        SELECT
            * EXCEPT (occurrence, logged_attempts, two_earlier, two_later),
            -- what the engine keeps of the last two is not in order
            arraySort(one -> (one.at, one.hash, one.occurrence), two_earlier) AS sorted_earlier,
            arraySort(one -> (one.at, one.hash, one.occurrence), two_later) AS sorted_later,
            sorted_earlier[-1] AS earlier,
            sorted_earlier[-2] AS before_earlier,
            sorted_later[1] AS later,
            sorted_later[2] AS after_later,
            at - earlier.at AS to_earlier_us,
            later.at - at AS to_later_us,
            earlier.valid AS has_earlier,
            later.valid AS has_later,
            traced AND gateways = 1 AS alone_in_trace
        FROM neighbours
        WHERE NOT is_gateway
    ),
    nearest AS
    (
        SELECT
            *,
            has_earlier AND (NOT has_later OR to_earlier_us <= to_later_us) AS takes_earlier,
            if(alone_in_trace, only_gateway, if(takes_earlier, earlier, later)) AS target
        FROM reachable
        WHERE alone_in_trace OR has_earlier OR has_later
    ),
    compared AS
    (
        SELECT
            *,
            toInt64(abs(at - target.at)) AS nearest_us,
            at BETWEEN target.received_us - skew_us AND target.done_us + skew_us AS fits,
            -- the next best is the neighbour on the other side, or the one behind the nearest
            least(
                if(has_earlier AND NOT takes_earlier, to_earlier_us, hour_us),
                if(has_later AND takes_earlier, to_later_us, hour_us),
                if(takes_earlier AND before_earlier.valid, at - before_earlier.at, hour_us),
                if(NOT takes_earlier AND after_later.valid, after_later.at - at, hour_us)) AS second_us,
            alone_in_trace OR (gateways = 1 AND engines = 1 AND nearest_us <= reach_us)
                OR (fits AND second_us - nearest_us > resolution_us) AS accepted
        FROM nearest
    ),
    claims AS
    (
        SELECT
            hour, target.hash AS hash, target.occurrence AS occurrence,
            any(target.logged_attempts) AS logged_attempts,
            max(alone_in_trace) AS by_unique_trace,
            countIf(NOT accepted AND fits) AS contested_rows,
            minIf(sequence, accepted) AS first_sequence,
            arraySort(row -> (row.at, row.tie), groupArrayIf(
                CAST((at, instance, sequence, engine_us, queue_us, prefill_us, decode_us, first_token_us, prompt, cached, completion, tie),
                     'Tuple(at Int64, instance String, sequence UInt16, engine_us Int64, queue_us Int64, prefill_us Int64, decode_us Int64, first_token_us Nullable(Int64), prompt Nullable(UInt32), cached Nullable(UInt32), completion Nullable(UInt32), tie UInt128)'),
                accepted)) AS rows
        FROM compared
        GROUP BY hour, hash, occurrence
    ),
    -- attempts begin with the sequence of the lowest index; the others follow on the same instance
    attempts_begun AS
    (
        SELECT
            *,
            arraySort(arrayDistinct(arrayMap(row -> (row.at, row.instance), arrayFilter(row -> row.sequence = first_sequence, rows)))) AS starts
        FROM claims
    ),
    attempts_numbered AS
    (
        SELECT
            *,
            arrayMap(row -> greatest(1, arrayLastIndex(start -> start.2 = row.instance AND start.1 <= row.at, starts)), rows) AS attempt_of
        FROM attempts_begun
    ),
    attempts_ended AS
    (
        SELECT
            *,
            -- of every attempt, the sequence that finished last
            arrayMap(number -> arrayLast(row -> 1, arraySort(row -> (row.at + row.engine_us, row.tie),
                arrayFilter((row, attempt) -> attempt = number, rows, attempt_of))), arrayEnumerate(starts)) AS last_rows,
            arrayFilter((row, attempt) -> attempt = length(starts), rows, attempt_of) AS final_rows,
            arrayDistinct(arrayMap(row -> row.sequence, final_rows)) AS final_sequences
        FROM attempts_numbered
    ),
    judged AS
    (
        SELECT
            *,
            arrayMap(row -> row.queue_us < 0 OR row.prefill_us < 0 OR row.decode_us < 0
                OR row.engine_us - row.queue_us - row.prefill_us - row.decode_us < -resolution_us, last_rows) AS impossible
        FROM attempts_ended
    ),
    matched AS
    (
        SELECT
            hour, hash, occurrence,
            last_rows[-1] AS final,
            arraySum((row, wrong) -> if(wrong, 0, row.queue_us), arrayPopBack(last_rows), arrayPopBack(impossible)) AS earlier_queue_us,
            multiIf(
                contested_rows > 0 OR (NOT by_unique_trace AND length(starts) > greatest(logged_attempts, 1)), 'ambiguous',
                empty(rows), 'none',
                impossible[-1], 'quarantined',
                'joined') AS verdict,
            -- a prompt counts once however many sequences came of it
            if(arrayExists(row -> isNull(row.prompt), final_rows), NULL,
                arraySum(index -> arrayMax(row -> if(row.sequence = index, ifNull(row.prompt, 0), 0), final_rows), final_sequences)) AS engine_prompt_tokens,
            if(arrayExists(row -> isNull(row.cached), final_rows), NULL,
                arraySum(index -> arrayMax(row -> if(row.sequence = index, ifNull(row.cached, 0), 0), final_rows), final_sequences)) AS engine_cached_tokens,
            if(arrayExists(row -> isNull(row.completion), rows), NULL,
                arraySum(row -> ifNull(row.completion, 0), rows)) AS engine_completion_tokens
        FROM judged
    ),
    requests_of_hours AS
    (
        SELECT
            *,
            intDiv(toUnixTimestamp64Micro(received_at), hour_us) * hour_us AS received_hour
        FROM gateway_requests FINAL
        WHERE received_at >= fromUnixTimestamp64Micro({first_us:Int64}, 'UTC')
            AND received_at < fromUnixTimestamp64Micro({last_us:Int64}, 'UTC')
            AND first_wins >= {as_of_wins:UInt64}
            AND has({hours_us:Array(Int64)}, received_hour)
    ),
    joined_requests AS
    (
        SELECT
            request.*, final, earlier_queue_us, engine_prompt_tokens, engine_cached_tokens, engine_completion_tokens,
            multiIf(verdict = '', 'none',
                    verdict = 'joined' AND responded_us - final.engine_us - earlier_queue_us - ifNull(gateway_queue_us, 0) < -resolution_us, 'quarantined',
                    verdict) AS engine,
            engine = 'joined' AS joined
        FROM requests_of_hours AS request
        LEFT JOIN matched ON matched.hour = request.received_hour AND matched.hash = request.content_hash AND matched.occurrence = request.k
    )
SELECT
    tenant, received_at, request_id, trace_id, content_hash, k, source, model, route, region, upstream, status, outcome, error_code,
    stream, inference_mode, model_version, attempts,
    responded_us AS end_to_end_us,
    connected_us, forwarded_us,
    engine,
    if(joined, final.queue_us + earlier_queue_us + ifNull(gateway_queue_us, 0), NULL) AS queue_us,
    if(joined, final.prefill_us, NULL) AS prefill_us,
    if(joined, final.decode_us, NULL) AS decode_us,
    if(joined, final.engine_us - final.queue_us - final.prefill_us - final.decode_us, NULL) AS frontend_us,
    ifNull(gateway_first_token_us, if(joined AND final.first_token_us >= 0, forwarded_us + final.first_token_us, NULL)) AS time_to_first_token_us,
    CAST(ifNull(prompt_tokens, if(joined, engine_prompt_tokens, NULL)), 'Nullable(UInt32)') AS prompt_tokens,
    CAST(ifNull(cached_tokens, if(joined, engine_cached_tokens, NULL)), 'Nullable(UInt32)') AS cached_tokens,
    CAST(ifNull(completion_tokens, if(joined, engine_completion_tokens, NULL)), 'Nullable(UInt32)') AS completion_tokens,
    if(joined, final.completion, NULL) AS decode_tokens,
    simulated
FROM joined_requests

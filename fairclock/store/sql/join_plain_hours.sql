-- Join the gateway's requests of some hours with the engine's rows, where tangled_hours.sql found that no key has more
-- than one row on a side: what join_hours.sql gives for such hours, without the search for neighbours and attempts.
--
-- Parameters as in join_hours.sql.
WITH
    toInt64(3600000000) AS hour_us,
    toInt64(600000000) AS margin_us,
    toInt64(2000) AS resolution_us,

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
    engines_of_hours AS
    (
        SELECT
            arrayJoin(arrayFilter(start -> arrived_us >= start - margin_us AND arrived_us < start + hour_us + margin_us, {hours_us:Array(Int64)})) AS hour,
            toUnixTimestamp64Micro(arrived_at) AS arrived_us,
            trace_id, end_to_end_us AS engine_us, queue_us AS engine_queue_us, prefill_us AS engine_prefill_us, decode_us AS engine_decode_us,
            time_to_first_token_us AS first_token_us,
            prompt_tokens AS engine_prompt_tokens, cached_tokens AS engine_cached_tokens, completion_tokens AS engine_completion_tokens,
            1 AS is_engine
        FROM engine_requests FINAL
        WHERE arrived_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
            AND arrived_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
            AND first_wins >= {as_of_wins:UInt64}
            AND reinterpretAsUInt128(trace_id) != 0
    ),
    joined_requests AS
    (
        SELECT
            request.*,
            final.* EXCEPT (hour, arrived_us, trace_id, is_engine),
            multiIf(
                NOT is_engine, 'none',
                engine_queue_us < 0 OR engine_prefill_us < 0 OR engine_decode_us < 0
                    OR engine_us - engine_queue_us - engine_prefill_us - engine_decode_us < -resolution_us
                    OR responded_us - engine_us - ifNull(gateway_queue_us, 0) < -resolution_us, 'quarantined',
                'joined') AS engine,
            engine = 'joined' AS joined
        FROM requests_of_hours AS request
        LEFT JOIN engines_of_hours AS final ON final.hour = request.received_hour AND final.trace_id = request.trace_id
    )
SELECT
    tenant, received_at, request_id, trace_id, content_hash, k, source, model, route, region, upstream, status, outcome, error_code,
    stream, inference_mode, model_version, attempts,
    responded_us AS end_to_end_us,
    connected_us, forwarded_us,
    engine,
    if(joined, engine_queue_us + ifNull(gateway_queue_us, 0), NULL) AS queue_us,
    if(joined, engine_prefill_us, NULL) AS prefill_us,
    if(joined, engine_decode_us, NULL) AS decode_us,
    if(joined, engine_us - engine_queue_us - engine_prefill_us - engine_decode_us, NULL) AS frontend_us,
    ifNull(gateway_first_token_us, if(joined AND first_token_us >= 0, forwarded_us + first_token_us, NULL)) AS time_to_first_token_us,
    CAST(ifNull(prompt_tokens, if(joined, engine_prompt_tokens, NULL)), 'Nullable(UInt32)') AS prompt_tokens,
    CAST(ifNull(cached_tokens, if(joined, engine_cached_tokens, NULL)), 'Nullable(UInt32)') AS cached_tokens,
    CAST(ifNull(completion_tokens, if(joined, engine_completion_tokens, NULL)), 'Nullable(UInt32)') AS completion_tokens,
    if(joined, engine_completion_tokens, NULL) AS decode_tokens,
    simulated
FROM joined_requests

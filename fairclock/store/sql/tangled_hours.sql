-- Which of some hours need join_hours.sql in full: those where a trace has more than a request and an engine row, or
-- where an id, rather than a trace, may bring two rows together. In every other hour an engine row belongs to the one
-- request with its trace, or to nobody, and join_plain_hours.sql gives the same rows.
--
-- Parameters as in join_hours.sql. A hash of 64 bits is enough for ids: two ids that share one cost time, no more.
WITH
    toInt64(3600000000) AS hour_us,
    toInt64(600000000) AS margin_us,
    records AS
    (
        SELECT
            arrayJoin(arrayFilter(start -> at_us >= start - margin_us AND at_us < start + hour_us + margin_us, {hours_us:Array(Int64)})) AS hour,
            is_gateway, trace_key, content_hash, id_key
        FROM
        (
            SELECT 1 AS is_gateway, toUnixTimestamp64Micro(received_at) AS at_us, reinterpretAsUInt128(trace_id) AS trace_key, content_hash, if(request_id = '', 0, sipHash64(request_id)) AS id_key
            FROM gateway_requests FINAL
            WHERE received_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
                AND received_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
                AND first_wins >= {as_of_wins:UInt64}
            UNION ALL
            SELECT 0, toUnixTimestamp64Micro(arrived_at), reinterpretAsUInt128(trace_id), content_hash, if(join_id = '', 0, sipHash64(join_id))
            FROM engine_requests FINAL
            WHERE arrived_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
                AND arrived_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
                AND first_wins >= {as_of_wins:UInt64}
        )
    ),
    -- all that is not a pair; a row without a trace stands for itself
    unpaired AS
    (
        SELECT hour, count() AS rows, countIf(is_gateway) AS gateways, any(id_key) AS id_key
        FROM records
        GROUP BY hour, trace_key = 0, if(trace_key = 0, content_hash, trace_key)
        HAVING rows != 2 OR gateways != 1
    ),
    ids AS
    (
        SELECT hour, id_key, max(rows) > 1 AS has_many_of_a_trace, max(gateways) = 1 AND min(gateways) = 0 AS is_on_both_sides
        FROM unpaired
        GROUP BY hour, id_key
    )
SELECT DISTINCT hour FROM ids WHERE has_many_of_a_trace OR (is_on_both_sides AND id_key != 0)

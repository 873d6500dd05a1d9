-- Which of some hours need join_hours.sql in full: those where a key has more than one row on a side, or where an id,
-- rather than a trace, may bring two rows together. In every other hour an engine row belongs to the one request with
-- its trace, or to nobody, and join_plain_hours.sql gives the same rows.
--
-- Parameters as in join_hours.sql. A hash of 64 bits is enough for ids: two ids that share one cost time, no more.
WITH
    toInt64(3600000000) AS hour_us,
    toInt64(600000000) AS margin_us,
    records AS
    (
        SELECT
            arrayJoin(arrayFilter(start -> at_us >= start - margin_us AND at_us < start + hour_us + margin_us, {hours_us:Array(Int64)})) AS hour,
            is_gateway, trace_id, content_hash, id_key
        FROM
        (
            SELECT 1 AS is_gateway, toUnixTimestamp64Micro(received_at) AS at_us, trace_id, content_hash, if(request_id = '', 0, sipHash64(request_id)) AS id_key
            FROM gateway_requests FINAL
            WHERE received_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
                AND received_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
                AND first_wins >= {as_of_wins:UInt64}
            UNION ALL
            SELECT 0, toUnixTimestamp64Micro(arrived_at), trace_id, content_hash, if(join_id = '', 0, sipHash64(join_id))
            FROM engine_requests FINAL
            WHERE arrived_at >= fromUnixTimestamp64Micro({first_us:Int64} - margin_us, 'UTC')
                AND arrived_at < fromUnixTimestamp64Micro({last_us:Int64} + margin_us, 'UTC')
                AND first_wins >= {as_of_wins:UInt64}
        )
    ),
    -- rows without a trace are each on their own
    traces AS
    (
        SELECT
            hour,
            countIf(is_gateway) AS gateways,
            count() - gateways AS engines,
            groupArray((is_gateway, id_key)) AS rows
        FROM records
        GROUP BY hour, trace_id, if(reinterpretAsUInt128(trace_id) = 0, content_hash, 0), if(reinterpretAsUInt128(trace_id) = 0, is_gateway, 0)
        HAVING gateways != 1 OR engines != 1
    ),
    ids AS
    (
        SELECT
            hour, id_key,
            max(gateways > 0 AND engines > 0) AS shares_a_trace,
            max(row.1) AND NOT min(row.1) AS is_shared
        FROM (SELECT hour, gateways, engines, arrayJoin(rows) AS row, row.2 AS id_key FROM traces)
        GROUP BY hour, id_key
    )
SELECT DISTINCT hour FROM ids WHERE shares_a_trace OR (is_shared AND id_key != 0)

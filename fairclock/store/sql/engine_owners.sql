-- Whose the sequences are that their trace and durations do not tell of.
--
-- Reads `sequences` (engine_sequences.sql, staged; those with row_id 0 are looked at) and `joined`. A sequence is
-- the joined request's with its id and exactly its prefill and decode; else the joined request's with its trace, else with its id:
-- attempts before the last, and several answers to one prompt. Requests are received at most ten minutes from its arrival,
-- with an id alone five; and there must be no other of that key so near that both could claim it, whichever way that one ended.
WITH
    toInt64(600000000) AS reach_us,
    toInt64(300000000) AS id_reach_us,
    toInt64(-4611686018427387904) AS never_us,
    asked AS
    (
        SELECT *, arrived_us + toInt64(600000000) AS until_us, arrived_us + toInt64(300000000) AS id_until_us
        FROM sequences
        WHERE row_id = 0
    ),
    by_id AS
    (
        SELECT
            request_id, ifNull(prefill_us, 0) AS prefill, ifNull(decode_us, 0) AS decode, toUnixTimestamp64Micro(received_at) AS received_us,
            reinterpretAsUInt128(sipHash128(content_hash, k)) AS request, toString(tenant) AS owner,
            received_us - lagInFrame(received_us, 1, never_us) OVER (PARTITION BY request_id, prefill, decode ORDER BY received_us ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS gap_us
        FROM joined
        WHERE engine = 'joined' AND request_id != '' AND request_id IN (SELECT join_id FROM sequences WHERE row_id = 0)
    ),
    of_trace AS
    (
        SELECT
            trace_id, toUnixTimestamp64Micro(received_at) AS received_us, engine,
            reinterpretAsUInt128(sipHash128(content_hash, k)) AS request, toString(tenant) AS owner,
            received_us - lagInFrame(received_us, 1, never_us) OVER (PARTITION BY trace_id ORDER BY received_us ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS gap_us
        FROM joined
        WHERE reinterpretAsUInt128(trace_id) != 0 AND trace_id IN (SELECT trace_id FROM sequences WHERE row_id = 0)
    ),
    of_id AS
    (
        SELECT
            request_id, toUnixTimestamp64Micro(received_at) AS received_us, engine,
            reinterpretAsUInt128(sipHash128(content_hash, k)) AS request, toString(tenant) AS owner,
            received_us - lagInFrame(received_us, 1, never_us) OVER (PARTITION BY request_id ORDER BY received_us ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS gap_us
        FROM joined
        WHERE request_id != '' AND request_id IN (SELECT join_id FROM sequences WHERE row_id = 0)
    ),
    found AS
    (
        SELECT
            asked.*,
            by_id.request != 0 AND asked.arrived_us - by_id.received_us <= reach_us AND by_id.gap_us > 2 * reach_us AS is_by_id,
            of_trace.engine = 'joined' AND asked.arrived_us - of_trace.received_us <= reach_us AND of_trace.gap_us > 2 * reach_us AS is_of_trace,
            of_id.engine = 'joined' AND asked.arrived_us - of_id.received_us <= id_reach_us AND of_id.gap_us > 2 * id_reach_us AS is_of_id,
            multiIf(is_by_id, by_id.request, is_of_trace, of_trace.request, is_of_id, of_id.request, 0) AS request,
            multiIf(is_by_id, by_id.owner, is_of_trace, of_trace.owner, is_of_id, of_id.owner, '') AS owner
        FROM asked
        ASOF LEFT JOIN by_id ON by_id.request_id = asked.join_id AND by_id.prefill = asked.prefill_us AND by_id.decode = asked.decode_us
            AND by_id.received_us <= asked.until_us
        ASOF LEFT JOIN of_trace ON of_trace.trace_id = asked.trace_id AND of_trace.received_us <= asked.until_us
        ASOF LEFT JOIN of_id ON of_id.request_id = asked.join_id AND of_id.received_us <= asked.id_until_us
    )
SELECT * EXCEPT (row_id, tenant), request AS row_id, owner AS tenant
FROM found

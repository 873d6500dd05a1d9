-- How many tokens each tenant's requests kept in an engine's memory: its pieces are swept from event to event.
--
-- Reads `pieces` (timeline_pieces.sql). A sequence is taken to hold, all the time that it runs, what it holds at its end:
-- prompt and completion. So these are upper bounds. Columns, a row for each lane, piece and tenant: peak_kv_tokens, and
-- kv_token_us, tokens times microseconds.
WITH
    numbered AS
    (
        SELECT lane, piece_us, owned, tenant, kv_tokens, sign, if(sign = 1, piece_begun_us, piece_ended_us) AS at_us
        FROM pieces
        ARRAY JOIN [toInt8(1), toInt8(-1)] AS sign
    ),
    held AS
    (
        SELECT
            lane, piece_us, owned, tenant,
            -- what ends at an instant is gone before what begins at it comes
            sum(kv_tokens * sign) OVER so_far AS held_tokens,
            sum(kv_tokens * sign) OVER so_far - kv_tokens * sign AS before_tokens,
            at_us - lagInFrame(at_us, 1, at_us) OVER so_far AS length_us
        FROM numbered
        WINDOW so_far AS (PARTITION BY lane, piece_us, owned, tenant ORDER BY at_us ASC, sign ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    )
SELECT lane, piece_us, owned, tenant, max(held_tokens) AS peak_kv_tokens, sum(toInt128(before_tokens) * length_us) AS kv_token_us
FROM held
GROUP BY lane, piece_us, owned, tenant
ORDER BY lane, piece_us, owned, tenant

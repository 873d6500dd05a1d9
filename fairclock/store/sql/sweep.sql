-- Divide the time of engines' GPUs among the sequences that ran: each engine's timeline is swept from event to event.
--
-- Reads `pieces` (timeline_pieces.sql). Parameters, beside those of pieces, one entry a lane: lane_numerators and
-- lane_denominators (GPUs), lane_slots. by_slot: shares are parts of lane_slots, else of all that run.
--
-- What is not asked of it costs nothing: row_id is half of its time.
--
-- Between two events each unit of weight gets the lane's GPU time divided by all that run (or by the slots, if more),
-- rounded down to 2^-40 picoseconds; a sequence gets its weight times the sum of these, rounded down to picoseconds once in
-- each piece of time. Columns, a row for each sequence, lane and piece: picoseconds, and of the segments that end with one
-- of its events busy_us (somebody ran), free (nobody's slots, in 2^-40 picoseconds), rest (lost in rounding, in
-- 2^-40 picoseconds / the lane's denominator). Over a piece, exactly:
--     sum(picoseconds) + sum(free) / 2^40 + sum(rest) / 2^40 / denominator = sum(busy_us) x 10^6 x numerator / denominator
WITH
    toInt128(1099511627776) AS quanta,
    numbered AS
    (
        SELECT *, rowNumberInAllBlocks() AS row_number
        FROM pieces
    ),
    events AS
    (
        SELECT
            lane, piece_us, row_number, row_id, owned, tenant, share, sign,
            if(sign = 1, piece_begun_us, piece_ended_us) AS at_us
        FROM numbered
        ARRAY JOIN [toInt8(1), toInt8(-1)] AS sign
    ),
    -- the segment that ends with an event; of several events at one instant all but the first end nothing, whatever their order
    segments AS
    (
        SELECT
            lane, piece_us, row_number, row_id, owned, tenant, share, sign, at_us,
            sum(share * sign) OVER so_far - share * sign AS running,
            at_us - lagInFrame(at_us, 1, at_us) OVER so_far AS length_us
        FROM events
        WINDOW so_far AS (PARTITION BY lane, piece_us ORDER BY at_us ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    ),
    units AS
    (
        SELECT
            lane, piece_us, row_number, row_id, owned, tenant, share, sign, at_us,
            if(running > 0, length_us, 0) AS busy_us,
            if({by_slot:UInt8}, greatest(running, {lane_slots:Array(Int64)}[lane], 1), greatest(running, 1)) AS divisor,
            quanta * (busy_us * 1000000) * {lane_numerators:Array(Int64)}[lane] AS parts,
            {lane_denominators:Array(Int64)}[lane] * divisor AS parts_a_unit,
            intDiv(parts, toInt128(parts_a_unit)) AS unit,
            if({by_slot:UInt8}, unit * (divisor - running), toInt128(0)) AS free,
            toInt64(parts - unit * parts_a_unit) AS rest
        FROM segments
    ),
    summed AS
    (
        SELECT
            lane, piece_us, row_number, row_id, owned, tenant, share, sign, busy_us, free, rest,
            -- by RANGE: of events at one instant every one has been given the same, in whatever order this sorts them
            sum(unit) OVER (PARTITION BY lane, piece_us ORDER BY at_us ASC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS given
        FROM units
    )
SELECT
    any(summed.lane) AS lane,
    any(summed.piece_us) AS piece_us,
    any(summed.row_id) AS row_id,
    any(summed.owned) AS owned,
    any(summed.tenant) AS tenant,
    any(share) * sum(-sign * given) AS exact,
    toInt64(intDiv(exact, quanta)) AS picoseconds,
    sum(busy_us) AS busy_us,
    sum(free) AS free,
    sum(rest) + (exact - picoseconds * quanta) * {lane_denominators:Array(Int64)}[lane] AS rest
FROM summed
GROUP BY row_number

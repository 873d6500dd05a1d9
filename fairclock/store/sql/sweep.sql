-- Divide the time of engines' GPUs among the sequences that ran: each engine's timeline is swept from event to event.
--
-- Reads `timeline` (instance, row_id, weight >= 1, begun_us, ended_us); what ran before the first edge or after the last is cut off.
-- A lane is an engine with its machine, for as long as that machine was its own. Parameters, one entry a lane, those of one
-- engine in a row: lane_from_us, lane_to_us, lane_numerators and lane_denominators (GPUs), lane_slots. One entry an engine:
-- engine_names, engine_first_lanes (from 1), engine_lanes (how many). edges_us: where the timeline is cut, in order; next_edges_us:
-- the edge after each. by_weight: shares go by weight, else all are alike; by_slot: they are parts of lane_slots.
--
-- Between two events each unit of weight gets the lane's GPU time divided by all that run (or by the slots, if more),
-- rounded down to 2^-40 picoseconds; a sequence gets its weight times the sum of these, rounded down to picoseconds once in
-- each piece of time. Columns, a row for each sequence, lane and piece: picoseconds, and of the segments that end with one
-- of its events busy_us (somebody ran), free (nobody's slots, in 2^-40 picoseconds), rest (lost in rounding, in
-- 2^-40 picoseconds / the lane's denominator). Over a piece, exactly:
--     sum(picoseconds) + sum(free) / 2^40 + sum(rest) / 2^40 / denominator = sum(busy_us) x 10^6 x numerator / denominator
WITH
    toInt128(1099511627776) AS quanta,
    laned AS
    (
        SELECT
            row_id, if({by_weight:UInt8}, toInt64(weight), 1) AS share,
            arrayJoin(range(toUInt32(transform(instance, {engine_names:Array(String)}, {engine_first_lanes:Array(UInt32)}, 0)) AS first_lane,
                first_lane + toUInt32(transform(instance, {engine_names:Array(String)}, {engine_lanes:Array(UInt32)}, 0)))) AS lane,
            greatest(begun_us, {lane_from_us:Array(Int64)}[lane], {edges_us:Array(Int64)}[1]) AS lane_begun_us,
            least(ended_us, {lane_to_us:Array(Int64)}[lane], {next_edges_us:Array(Int64)}[-1]) AS lane_ended_us
        FROM timeline
    ),
    pieces AS
    (
        SELECT
            row_id, share, lane, lane_begun_us, lane_ended_us,
            roundDown(lane_begun_us, {edges_us:Array(Int64)}) AS first_edge_us,
            arrayJoin(if(lane_ended_us <= transform(first_edge_us, {edges_us:Array(Int64)}, {next_edges_us:Array(Int64)}, toInt64(0)),
                [first_edge_us],
                arrayFilter(edge -> edge >= first_edge_us AND edge < lane_ended_us, {edges_us:Array(Int64)}))) AS piece_us
        FROM laned
        WHERE lane_begun_us < lane_ended_us
    ),
    numbered AS
    (
        SELECT *, rowNumberInAllBlocks() AS row_number
        FROM pieces
    ),
    events AS
    (
        SELECT
            lane, piece_us, row_number, row_id, share, sign,
            if(sign = 1, greatest(lane_begun_us, piece_us),
                least(lane_ended_us, transform(piece_us, {edges_us:Array(Int64)}, {next_edges_us:Array(Int64)}, toInt64(0)))) AS at_us
        FROM numbered
        ARRAY JOIN [toInt8(1), toInt8(-1)] AS sign
    ),
    -- the segment that ends with an event; of several events at one instant all but the first end nothing, whatever their order
    segments AS
    (
        SELECT
            lane, piece_us, row_number, row_id, share, sign, at_us,
            sum(share * sign) OVER so_far - share * sign AS running,
            at_us - lagInFrame(at_us, 1, at_us) OVER so_far AS length_us
        FROM events
        WINDOW so_far AS (PARTITION BY lane, piece_us ORDER BY at_us ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    ),
    units AS
    (
        SELECT
            lane, piece_us, row_number, row_id, share, sign, at_us,
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
            lane, piece_us, row_number, row_id, share, sign, busy_us, free, rest,
            sum(unit) OVER (PARTITION BY lane, piece_us ORDER BY at_us ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS given
        FROM units
    )
SELECT
    any(summed.lane) AS lane,
    any(summed.piece_us) AS piece_us,
    any(summed.row_id) AS row_id,
    any(share) * sum(-sign * given) AS exact,
    toInt64(intDiv(exact, quanta)) AS picoseconds,
    sum(busy_us) AS busy_us,
    sum(free) AS free,
    sum(rest) + (exact - picoseconds * quanta) * {lane_denominators:Array(Int64)}[lane] AS rest
FROM summed
GROUP BY row_number

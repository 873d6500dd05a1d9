-- Cut what ran on engines into lanes and pieces of time: a row for each sequence in each piece that it ran in.
--
-- Reads `timeline` (instance, row_id, tenant, weight >= 1, kv_tokens, begun_us, ended_us); what ran before the first edge or
-- after the last is cut off. A lane is an engine with its machine, for as long as that machine was its own. Parameters, one
-- entry a lane, those of one engine in a row: lane_from_us, lane_to_us. One entry an engine: engine_names, engine_first_lanes
-- (from 1), engine_lanes (how many). edges_us: where time is cut, in order; next_edges_us: the edge after each. by_weight:
-- shares go by weight, else all are alike.
WITH
    laned AS
    (
        SELECT
            row_id, tenant, if({by_weight:UInt8}, toInt64(weight), 1) AS share, kv_tokens,
            arrayJoin(range(toUInt32(transform(instance, {engine_names:Array(String)}, {engine_first_lanes:Array(UInt32)}, 0)) AS first_lane,
                first_lane + toUInt32(transform(instance, {engine_names:Array(String)}, {engine_lanes:Array(UInt32)}, 0)))) AS lane,
            greatest(begun_us, {lane_from_us:Array(Int64)}[lane], {edges_us:Array(Int64)}[1]) AS lane_begun_us,
            least(ended_us, {lane_to_us:Array(Int64)}[lane], {next_edges_us:Array(Int64)}[-1]) AS lane_ended_us
        FROM timeline
    )
SELECT
    row_id, row_id != 0 AS owned, tenant, share, kv_tokens, lane,
    greatest(lane_begun_us, piece_us) AS piece_begun_us,
    least(lane_ended_us, transform(piece_us, {edges_us:Array(Int64)}, {next_edges_us:Array(Int64)}, toInt64(0))) AS piece_ended_us,
    piece_us
FROM
(
    SELECT
        row_id, tenant, share, kv_tokens, lane, lane_begun_us, lane_ended_us,
        roundDown(lane_begun_us, {edges_us:Array(Int64)}) AS first_edge_us,
        arrayJoin(if(lane_ended_us <= transform(first_edge_us, {edges_us:Array(Int64)}, {next_edges_us:Array(Int64)}, toInt64(0)),
            [first_edge_us],
            arrayFilter(edge -> edge >= first_edge_us AND edge < lane_ended_us, {edges_us:Array(Int64)}))) AS piece_us
    FROM laned
    WHERE lane_begun_us < lane_ended_us
)

SELECT
    count() AS admitted,
    countIf(judged_outcome = 'ok') AS ended_ok,
    countIf(judged_outcome = 'incomplete') AS ended_incomplete,
    countIf(judged_outcome = 'substituted') AS ended_substituted,
    countIf(judged_outcome = 'client_error') AS ended_client_error,
    countIf(judged_outcome = 'quota_rejected') AS ended_quota_rejected,
    countIf(judged_outcome = 'capacity_rejected') AS ended_capacity_rejected,
    countIf(judged_outcome = 'server_error') AS ended_server_error,
    countIf(judged_outcome = 'timeout') AS ended_timeout,
    countIf(judged_outcome = 'client_aborted') AS ended_client_aborted,
    countIf((is_ok) AND (engine = 'joined')) AS joined_ok,
    countIf((is_ok) AND (engine != 'joined') AND (roundDown(at_us, {engine_covered_edges:Array(Int64)}) IN {engine_covered_starts:Array(Int64)})) AS unconfirmed,
    countIf(engine = 'quarantined') AS quarantined,
    countIf(engine = 'ambiguous') AS ambiguous,
    countIf(attempts > 1) AS retried,
    countIf(simulated != 0) AS simulated,
    countIf(0) AS excluded,
    countIf(is_ok) AS known_end_to_end,
    countIf(is_ok) AS known_excluding_queue,
    countIf((is_ok) AND (clock_queue IS NOT NULL)) AS known_queue,
    countIf((is_ok) AND (clock_inference IS NOT NULL)) AS known_inference,
    countIf((is_ok) AND (clock_prefill IS NOT NULL)) AS known_prefill,
    countIf((is_ok) AND (clock_decode IS NOT NULL)) AS known_decode,
    countIf((is_ok) AND (clock_outside IS NOT NULL)) AS known_outside,
    countIf((is_ok) AND (clock_time_to_first_token IS NOT NULL)) AS known_time_to_first_token,
    countIf((is_ok) AND (clock_time_per_output_token IS NOT NULL)) AS known_time_per_output_token
FROM
(
SELECT * FROM rows
)

/* {
 "engine_covered_edges": [
  -4611686018427387904,
  1790784000000000,
  1793462400000000
 ],
 "engine_covered_starts": [
  1790784000000000
 ]
} */

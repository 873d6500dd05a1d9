SELECT
    tenant,
    received_at,
    toUnixTimestamp64Micro(received_at) AS at_us,
    content_hash,
    k,
    model,
    route,
    region,
    upstream,
    status,
    outcome,
    error_code,
    stream,
    inference_mode,
    attempts,
    end_to_end_us,
    connected_us,
    queue_us,
    prefill_us,
    decode_us,
    frontend_us,
    time_to_first_token_us,
    prompt_tokens,
    cached_tokens,
    completion_tokens,
    decode_tokens,
    engine,
    simulated,
    outcome AS judged_outcome,
    judged_outcome IN ('ok') AS is_ok,
    judged_outcome IN ('timeout', 'substituted', 'incomplete') AS is_failed,
    judged_outcome IN ('client_aborted') AS is_aborted,
    judged_outcome IN ('quota_rejected') AS is_quota_rejected,
    judged_outcome IN ('quota_rejected', 'capacity_rejected') AS is_refused,
    ((judged_outcome IN ('ok')) AND NOT (judged_outcome = 'ok' AND inference_mode IN {bad_modes:Array(String)})) OR (judged_outcome = 'substituted' AND inference_mode IN {good_modes:Array(String)}) AS is_good,
    ((judged_outcome IN ('incomplete', 'substituted', 'server_error', 'timeout', 'capacity_rejected')) AND NOT (judged_outcome = 'substituted' AND inference_mode IN {good_modes:Array(String)})) OR (judged_outcome = 'ok' AND inference_mode IN {bad_modes:Array(String)}) AS is_bad,
    is_ok AND engine = 'joined' AND queue_us IS NOT NULL AND prefill_us IS NOT NULL AND decode_us IS NOT NULL AND frontend_us IS NOT NULL AS is_fully_measured,
    end_to_end_us AS clock_end_to_end,
    end_to_end_us - ifNull(queue_us, 0) AS clock_excluding_queue,
    queue_us AS clock_queue,
    prefill_us + decode_us AS clock_inference,
    prefill_us AS clock_prefill,
    decode_us AS clock_decode,
    end_to_end_us - (prefill_us + decode_us) AS clock_outside,
    time_to_first_token_us AS clock_time_to_first_token,
    if(ifNull(decode_tokens, 0) > 1, intDiv(decode_us + toInt64(greatest(ifNull(decode_tokens, 2), 2) - 1) - 1, toInt64(greatest(ifNull(decode_tokens, 2), 2) - 1)), NULL) AS clock_time_per_output_token,
    if(ifNull(decode_tokens, 0) > 1 AND decode_us > 0, toInt64(intDiv(toInt128(ifNull(decode_tokens, 1) - 1) * 1000000000000, decode_us)), NULL) AS speed_micro,
    (roundDown(at_us, {objective_0_during_edges:Array(Int64)}) IN {objective_0_during_starts:Array(Int64)}) AND (model IN {objective_0_0_part_model:Array(String)}) AND (NOT (engine = {excluded_engine:String})) AS in_objective_0_0,
    (roundDown(at_us, {objective_0_during_edges:Array(Int64)}) IN {objective_0_during_starts:Array(Int64)}) AND (model IN {objective_0_1_part_model:Array(String)}) AND (NOT (engine = {excluded_engine:String})) AS in_objective_0_1,
    (roundDown(at_us, {objective_1_during_edges:Array(Int64)}) IN {objective_1_during_starts:Array(Int64)}) AND (model IN {objective_1_0_part_model:Array(String)}) AND (NOT (engine = {excluded_engine:String})) AS in_objective_1_0,
    (roundDown(at_us, {objective_1_during_edges:Array(Int64)}) IN {objective_1_during_starts:Array(Int64)}) AND (model IN {objective_1_1_part_model:Array(String)}) AND (NOT (engine = {excluded_engine:String})) AS in_objective_1_1,
    (roundDown(at_us, {objective_2_during_edges:Array(Int64)}) IN {objective_2_during_starts:Array(Int64)}) AND (model IN {objective_2_0_part_model:Array(String)}) AND (NOT (engine = {excluded_engine:String})) AS in_objective_2_0,
    (roundDown(at_us, {objective_2_during_edges:Array(Int64)}) IN {objective_2_during_starts:Array(Int64)}) AND (model IN {objective_2_1_part_model:Array(String)}) AND (NOT (engine = {excluded_engine:String})) AS in_objective_2_1
FROM
(
SELECT * FROM rows
)
WHERE tenant IN {tenants:Array(String)}

/* {
 "good_modes": [
  "fp16"
 ],
 "bad_modes": [
  "DROP",
  "int8"
 ],
 "objective_0_during_edges": [
  -4611686018427387904,
  1790787600000000,
  1793462400000000
 ],
 "objective_0_during_starts": [
  1790787600000000
 ],
 "objective_0_0_part_model": [
  "",
  "DROP"
 ],
 "excluded_engine": "DROP",
 "objective_0_1_part_model": [
  "",
  "m2"
 ],
 "objective_1_during_edges": [
  -4611686018427387904,
  1790787600000000,
  1793462400000000
 ],
 "objective_1_during_starts": [
  1790787600000000
 ],
 "objective_1_0_part_model": [
  "",
  "DROP"
 ],
 "objective_1_1_part_model": [
  "",
  "m2"
 ],
 "objective_2_during_edges": [
  -4611686018427387904,
  1790787600000000,
  1793462400000000
 ],
 "objective_2_during_starts": [
  1790787600000000
 ],
 "objective_2_0_part_model": [
  "",
  "DROP"
 ],
 "objective_2_1_part_model": [
  "",
  "m2"
 ],
 "tenants": [
  "acme"
 ]
} */

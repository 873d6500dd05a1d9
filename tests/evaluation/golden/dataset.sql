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
    multiIf((status = {rule_0_status:UInt64}) AND (error_code = {rule_0_error_code:String}), 'quota_rejected', toString(outcome)) AS judged_outcome,
    judged_outcome IN ('ok') AS is_ok,
    judged_outcome IN ('timeout', 'substituted', 'incomplete') AS is_failed,
    judged_outcome IN ('client_aborted') AS is_aborted,
    judged_outcome IN ('quota_rejected') AS is_quota_rejected,
    judged_outcome IN ('quota_rejected', 'capacity_rejected') AS is_refused,
    judged_outcome IN ('ok') AS is_good,
    judged_outcome IN ('incomplete', 'substituted', 'server_error', 'timeout', 'capacity_rejected') AS is_bad,
    is_ok AND engine = 'joined' AND queue_us IS NOT NULL AND prefill_us IS NOT NULL AND decode_us IS NOT NULL AND frontend_us IS NOT NULL AS is_fully_measured,
    (end_to_end_us + ifNull(connected_us, 0)) AS clock_end_to_end,
    (end_to_end_us + ifNull(connected_us, 0)) - ifNull(queue_us, 0) AS clock_excluding_queue,
    queue_us AS clock_queue,
    prefill_us + decode_us AS clock_inference,
    prefill_us AS clock_prefill,
    decode_us AS clock_decode,
    (end_to_end_us + ifNull(connected_us, 0)) - (prefill_us + decode_us) AS clock_outside,
    time_to_first_token_us AS clock_time_to_first_token,
    if(ifNull(decode_tokens, 0) > 1, intDiv(decode_us + toInt64(greatest(ifNull(decode_tokens, 2), 2) - 1) - 1, toInt64(greatest(ifNull(decode_tokens, 2), 2) - 1)), NULL) AS clock_time_per_output_token,
    if(ifNull(decode_tokens, 0) > 1 AND decode_us > 0, toInt64(intDiv(toInt128(ifNull(decode_tokens, 1) - 1) * 1000000000000, decode_us)), NULL) AS speed_micro,
    (roundDown(at_us, {objective_0_during_edges:Array(Int64)}) IN {objective_0_during_starts:Array(Int64)}) AND (ifNull((prompt_tokens >= {objective_0_prompt_tokens_lowest:UInt64}) AND (prompt_tokens <= {objective_0_prompt_tokens_highest:UInt64}), 1)) AS in_objective_0,
    (model IN {objective_1_models:Array(String)}) AND (ifNull(completion_tokens >= {objective_1_completion_tokens_lowest:UInt64}, 1)) AND (ifNull(stream = {objective_1_stream:UInt8}, 1)) AS in_objective_1,
    1 AS in_objective_2,
    roundDown(at_us, {objective_3_during_edges:Array(Int64)}) IN {objective_3_during_starts:Array(Int64)} AS in_objective_3
FROM
(
SELECT * FROM rows
)
WHERE (tenant IN {tenants:Array(String)}) AND (model IN {models:Array(String)}) AND (route IN {routes:Array(String)}) AND (region IN {regions:Array(String)})

/* {
 "rule_0_status": 503,
 "rule_0_error_code": "QpsExceeded",
 "objective_0_during_edges": [
  -4611686018427387904,
  1791208800000000,
  1791216000000000,
  1791813600000000,
  1791820800000000,
  1792418400000000,
  1792425600000000,
  1793023200000000,
  1793030400000000
 ],
 "objective_0_during_starts": [
  1791208800000000,
  1791813600000000,
  1792418400000000,
  1793023200000000
 ],
 "objective_0_prompt_tokens_lowest": 512,
 "objective_0_prompt_tokens_highest": 2047,
 "objective_1_models": [
  "",
  "m1"
 ],
 "objective_1_completion_tokens_lowest": 17,
 "objective_1_stream": 1,
 "objective_3_during_edges": [
  -4611686018427387904,
  1790784000000000,
  1791208800000000,
  1791216000000000,
  1791813600000000,
  1791820800000000,
  1792418400000000,
  1792425600000000,
  1793023200000000,
  1793030400000000,
  1793462400000000
 ],
 "objective_3_during_starts": [
  1790784000000000,
  1791216000000000,
  1791820800000000,
  1792425600000000,
  1793030400000000
 ],
 "tenants": [
  "\"'; DROP TABLE requests; --"
 ],
 "models": [
  "",
  "m1",
  "m2"
 ],
 "routes": [
  "/v1/chat/completions"
 ],
 "regions": [
  "",
  "r1"
 ]
} */

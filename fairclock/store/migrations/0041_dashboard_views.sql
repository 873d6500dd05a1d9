-- What Grafana reads: what contracts promise, and views that read as reports read. A reader needs no more than these views.

-- What the versions of a contract promise, as they were last counted: one row a version, all of one contract under one
-- stored_at; those under the greatest stored_at hold. The arrays have an entry an objective, in the file's order.
-- Of `counted` requests share_of / share_in may be over; 0 / 1 where no share of single requests decides.
CREATE TABLE IF NOT EXISTS contract_terms
(
    contract LowCardinality(String),
    version LowCardinality(String),
    title_en String,
    title_zh String,
    tenants Array(String),
    models Array(String),
    routes Array(String),
    regions Array(String),
    time_zone LowCardinality(String),
    clock_start LowCardinality(String),
    unknown_is_bad UInt8,
    in_force_from DateTime64(6, 'UTC'),
    in_force_to DateTime64(6, 'UTC'),
    outcome_statuses Array(UInt16),
    outcome_error_codes Array(String),
    outcome_names Array(String),
    objectives Array(String),
    kinds Array(String),
    clocks Array(String),
    at_most_us Array(Int64),
    share_of Array(UInt64),
    share_in Array(UInt64),
    digest String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (contract, stored_at, version);

-- One row a version that holds.
CREATE VIEW IF NOT EXISTS dashboard_versions DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT * EXCEPT (digest)
FROM contract_terms
WHERE (contract, stored_at) IN (SELECT contract, max(stored_at) FROM contract_terms GROUP BY contract);

-- One row an objective of a version that holds; threshold_seconds is NULL where no time is promised.
CREATE VIEW IF NOT EXISTS dashboard_contracts DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    contract, version, title_en, title_zh, tenants, time_zone, in_force_from, in_force_to,
    number, objective, kind, clock,
    if(threshold_us > 0, threshold_us / 1000000, NULL) AS threshold_seconds,
    if(share_numerator > 0, share_numerator / share_denominator, NULL) AS may_be_over_ratio
FROM dashboard_versions
ARRAY JOIN
    arrayEnumerate(objectives) AS number, objectives AS objective, kinds AS kind, clocks AS clock,
    at_most_us AS threshold_us, share_of AS share_numerator, share_in AS share_denominator;

-- One row a minute that a contract was in force in: of all that was said of it what was said last.
-- The order is the table's own, backwards, so that nothing is sorted.
CREATE VIEW IF NOT EXISTS dashboard_slices DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    slice.contract AS contract, slice.version AS version, slice.minute AS minute,
    slice.good AS good, slice.bad AS bad, slice.excluded AS excluded, slice.unknown AS unknown,
    slice.requests AS requests, slice.queue_us AS queue_us, slice.queue_of_us AS queue_of_us,
    slice.gateway_us AS gateway_us, slice.engine_us AS engine_us,
    held.objectives AS objectives, held.kinds AS kinds, held.clocks AS clocks, held.at_most_us AS at_most_us,
    held.share_of AS share_of, held.share_in AS share_in, held.unknown_is_bad AS unknown_is_bad, held.time_zone AS time_zone
FROM
(
    SELECT contract, version, minute, good, bad, excluded, unknown, requests, queue_us, queue_of_us, gateway_us, engine_us
    FROM sli_slices
    ORDER BY contract DESC, version DESC, minute DESC, as_of DESC, stored_at DESC
    LIMIT 1 BY contract, version, minute
) AS slice
INNER JOIN dashboard_versions AS held ON slice.contract = held.contract AND slice.version = held.version
WHERE slice.minute >= held.in_force_from AND slice.minute < held.in_force_to;

-- One row a minute of an objective. over and counted are those of the verdict; share_of / share_in of counted may be over.
CREATE VIEW IF NOT EXISTS dashboard_objectives DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    contract, version, minute, time_zone, objective, kind, clock,
    if(threshold_us > 0, threshold_us / 1000000, NULL) AS threshold_seconds,
    share_numerator AS share_of, share_denominator AS share_in,
    good_requests AS good, bad_requests AS bad, excluded_requests AS excluded, unknown_requests AS unknown,
    toUInt64(bad + if(unknown_is_bad, unknown_requests, 0)) AS over,
    toUInt64(good + over) AS counted
FROM dashboard_slices
ARRAY JOIN
    objectives AS objective, kinds AS kind, clocks AS clock, at_most_us AS threshold_us,
    share_of AS share_numerator, share_in AS share_denominator,
    arrayResize(good, length(objectives)) AS good_requests, arrayResize(bad, length(objectives)) AS bad_requests,
    arrayResize(excluded, length(objectives)) AS excluded_requests, arrayResize(unknown, length(objectives)) AS unknown_requests;

-- One row a request of a sealed hour under each contract in whose scope it is: the newest seal of each hour, so that an
-- hour that was not sealed yet is not there. Seconds; outcome as the contract calls it; clocks as a report has them.
CREATE VIEW IF NOT EXISTS dashboard_requests DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    held.contract AS contract, held.time_zone AS time_zone,
    request.received_at AS received_at, request.tenant AS tenant, request.model AS model, request.region AS region,
    request.upstream AS upstream, request.attempts AS attempts, request.simulated AS simulated,
    arrayFirstIndex((status, code) -> (status = 0 OR status = request.status) AND (code = '' OR code = request.error_code),
        held.outcome_statuses, held.outcome_error_codes) AS rule,
    if(rule > 0, held.outcome_names[rule], toString(request.outcome)) AS outcome,
    outcome = 'ok' AS is_ok,
    request.engine AS engine,
    is_ok AND engine = 'joined' AND request.queue_us IS NOT NULL AND request.prefill_us IS NOT NULL
        AND request.decode_us IS NOT NULL AND request.frontend_us IS NOT NULL AS is_fully_measured,
    request.end_to_end_us + if(held.clock_start = 'connected', ifNull(request.connected_us, 0), 0) AS whole_us,
    request.prefill_us + request.decode_us AS inference_us,
    toInt64(greatest(ifNull(request.decode_tokens, 2), 2) - 1) AS gaps,
    whole_us / 1000000 AS end_to_end,
    (whole_us - ifNull(request.queue_us, 0)) / 1000000 AS excluding_queue,
    request.queue_us / 1000000 AS queue,
    inference_us / 1000000 AS inference,
    request.prefill_us / 1000000 AS prefill,
    request.decode_us / 1000000 AS decode,
    (whole_us - inference_us) / 1000000 AS outside,
    request.time_to_first_token_us / 1000000 AS time_to_first_token,
    if(ifNull(request.decode_tokens, 0) > 1, intDiv(request.decode_us + gaps - 1, gaps), NULL) / 1000000 AS time_per_output_token,
    request.frontend_us / 1000000 AS frontend,
    (request.end_to_end_us - request.queue_us - request.frontend_us - inference_us) / 1000000 AS network,
    request.prompt_tokens AS prompt_tokens, request.cached_tokens AS cached_tokens, request.completion_tokens AS completion_tokens
FROM
(
    SELECT * FROM requests WHERE seal IN (SELECT max(seal) FROM seals GROUP BY hour)
) AS request
INNER JOIN
(
    SELECT *, arrayJoin(tenants) AS served FROM dashboard_versions
) AS held ON request.tenant = held.served
WHERE request.received_at >= held.in_force_from AND request.received_at < held.in_force_to
    AND (empty(held.models) OR request.model = '' OR has(held.models, request.model))
    AND (empty(held.routes) OR has(held.routes, request.route))
    AND (empty(held.regions) OR request.region = '' OR has(held.regions, request.region));

-- One row an hour: when its newest seal was written.
CREATE VIEW IF NOT EXISTS dashboard_seals DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT hour, max(seals.seal) AS seal, argMax(seals.stored_at, seals.seal) AS stored_at, argMax(seals.rows, seals.seal) AS requests
FROM seals
GROUP BY hour;

-- Up to which instant the minutes of a contract's versions hold what had been stored.
CREATE VIEW IF NOT EXISTS dashboard_progress DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT contract, version, max(slice_progress.as_of) AS as_of
FROM slice_progress
GROUP BY contract, version;

-- One row an incident that there was.
CREATE VIEW IF NOT EXISTS dashboard_incidents DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    contract, objective, id, said.1 AS state, said.2 AS starts_at, said.3 AS ends_at, said.4 AS requests, said.5 AS bad,
    said.6 AS worst_us, said.7 AS tenants, worst_us / 1000000 AS worst_seconds
FROM
(
    SELECT contract, objective, id,
        argMax(tuple(state, starts_at, ends_at, requests, bad, worst_us, tenants), (as_of, stored_at)) AS said
    FROM incidents
    GROUP BY contract, objective, id
)
WHERE state != 'withdrawn';

-- One row an alert, as it was changed last.
CREATE VIEW IF NOT EXISTS dashboard_alerts DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    alert_id, said.1 AS state, said.2 AS severity, said.3 AS contract, said.4 AS objective, said.5 AS changed_at,
    JSONExtractString(said.6, 'summary_en') AS summary_en, JSONExtractString(said.6, 'summary_zh') AS summary_zh
FROM
(
    SELECT alert_id, argMax(tuple(state, severity, contract, objective, changed_at, event), (sequence, negate(toUnixTimestamp64Micro(stored_at)))) AS said
    FROM alerts
    GROUP BY alert_id
);

-- One row an objective of a month's newest revision. said is what people are told: what was not issued is at risk, not violated.
CREATE VIEW IF NOT EXISTS dashboard_verdicts DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    contract, month, newest.1 AS revision, newest.2 AS as_of, each.1 AS objective, each.2 AS counted, each.3 AS over, each.4 AS verdict,
    (contract, month) IN (SELECT contract, month FROM issued_reports) AS is_issued,
    if(verdict = 'violated' AND NOT is_issued, 'at_risk', verdict) AS said
FROM
(
    SELECT contract, month, argMax(tuple(revision, as_of, figures), (revision, negate(toUnixTimestamp64Micro(stored_at)))) AS newest
    FROM evaluations
    GROUP BY contract, month
)
ARRAY JOIN JSONExtract(newest.3, 'objectives', 'Array(Tuple(name String, n Nullable(UInt64), violations Nullable(UInt64), verdict String))') AS each;

-- One row a value that an engine said of its queue, its cache, or its preemptions since it began.
CREATE VIEW IF NOT EXISTS dashboard_engines DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    scraped_at, if(engine IN ('', '0'), toString(target), concat(target, ' ', engine)) AS engine_name, target, engine, model,
    transform(toString(name),
        ['vllm:num_requests_running', 'vllm:num_requests_waiting', 'vllm:kv_cache_usage_perc', 'vllm:num_preemptions'],
        ['running', 'waiting', 'kv_cache', 'preemptions'], '') AS kind,
    value
FROM engine_samples FINAL
WHERE name IN ('vllm:num_requests_running', 'vllm:num_requests_waiting', 'vllm:kv_cache_usage_perc', 'vllm:num_preemptions')
    AND value IS NOT NULL AND labels = '';

-- One row a second of a GPU or MIG instance; what was not said is NULL.
CREATE VIEW IF NOT EXISTS dashboard_gpus DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    sampled_at, host, gpu, parent, gpu_instance, name, profile, state,
    concat(host, ' ', if(parent = '', gpu, concat(parent, ' MIG ', toString(ifNull(gpu_instance, 0))))) AS instance,
    utilization_ratio_mean AS utilization_ratio,
    memory_used_bytes_mean AS memory_used_bytes, memory_total_bytes AS memory_bytes,
    power_milliwatts_mean / 1000 AS power_watts, power_limit_milliwatts / 1000 AS power_limit_watts,
    temperature_celsius_mean AS temperature_celsius,
    throttle_reasons, ecc_uncorrected_volatile, simulated
FROM gpu_samples FINAL;

-- One row of what happened to a GPU or MIG instance: XID, ECC, throttling, loss.
CREATE VIEW IF NOT EXISTS dashboard_gpu_events DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT happened_at, host, gpu, parent, event, code, count, detail, simulated,
    concat(host, ' ', if(parent = '', gpu, concat(parent, ' MIG ', toString(ifNull(gpu_instance, 0))))) AS instance
FROM gpu_events FINAL;

-- One row an entry of a tenant's chain that holds: of two that follow one entry the one that was stored first, and nothing of the
-- others' batch from there on. amount is for display: exact sums are the ledger's.
CREATE VIEW IF NOT EXISTS dashboard_ledger DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    tenant, sequence, kind, starts_at, ends_at, period, about, currency, body,
    if(position(amount, '/') > 0,
        toFloat64(splitByChar('/', amount)[1]) / toFloat64(splitByChar('/', amount)[2]), toFloat64OrZero(amount)) AS amount_value
FROM
(
    SELECT *, minIf(sequence, place > 1) OVER (PARTITION BY tenant, stored_at) AS lost_from, countIf(place > 1) OVER (PARTITION BY tenant, stored_at) AS lost
    FROM
    (
        SELECT *, row_number() OVER (PARTITION BY tenant, sequence, previous ORDER BY stored_at, hash) AS place
        FROM
        (
            SELECT * FROM ledger_entries ORDER BY tenant, sequence, stored_at, hash LIMIT 1 BY tenant, sequence, hash
        )
    )
)
WHERE lost = 0 OR sequence < lost_from;

-- One row of usage that was charged: what alike requests of an hour used, and what that costs before tax.
CREATE VIEW IF NOT EXISTS dashboard_charges DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    tenant, kind, starts_at, ends_at, period, about, currency,
    item.1.1 AS model, item.1.2 AS length_class, item.1.3 AS inference_mode, item.1.4 AS treatment,
    item.1.5 AS requests, item.1.6 AS uncached_prompt_tokens, item.1.7 AS cached_prompt_tokens, item.1.8 AS completion_tokens,
    item.1.9 / 1000000000000 AS gpu_seconds,
    arraySum(one -> if(position(one.1, '/') > 0,
        toFloat64(splitByChar('/', one.1)[1]) / toFloat64(splitByChar('/', one.1)[2]), toFloat64OrZero(one.1)), item.2) AS net
FROM dashboard_ledger
ARRAY JOIN JSONExtract(body, 'items',
    'Array(Tuple(usage Tuple(model String, length_class String, inference_mode String, treatment String, requests Int64, uncached_prompt_tokens Int64, cached_prompt_tokens Int64, completion_tokens Int64, gpu_picoseconds Int64), charges Array(Tuple(amount String))))') AS item
WHERE kind NOT IN ('credit', 'close');

-- One row a credit, as it was said of last.
CREATE VIEW IF NOT EXISTS dashboard_credits DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT contract, id, said.1 AS month, said.2 AS objective, said.3 AS state, said.4 AS currency, said.5 AS amount, said.6 AS closes_at
FROM
(
    SELECT contract, id,
        argMax(tuple(month, objective, state, currency, amount, closes_at), (sequence, negate(toUnixTimestamp64Micro(stored_at)))) AS said
    FROM credits
    GROUP BY contract, id
);

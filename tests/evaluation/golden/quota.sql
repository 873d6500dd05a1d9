SELECT
    *
FROM
(
SELECT
    *,
    countIf(NOT is_refused) OVER (PARTITION BY tenant ORDER BY at_us RANGE BETWEEN 59999999 PRECEDING AND CURRENT ROW) AS used_requests,
    sumIf(toInt64(ifNull(prompt_tokens, 0)) + toInt64(ifNull(completion_tokens, 0)), NOT is_refused) OVER (PARTITION BY tenant ORDER BY at_us RANGE BETWEEN 59999999 PRECEDING AND CURRENT ROW) AS used_tokens
FROM
(
SELECT * FROM rows
)
)
WHERE (is_quota_rejected) AND (at_us >= {refused_from:Int64} AND at_us < {refused_to:Int64}) AND (used_requests < {used_requests_limit:UInt64}) AND (used_tokens < {used_tokens_limit:UInt64})

/* {
 "refused_from": 1790784000000000,
 "refused_to": 1793462400000000,
 "used_requests_limit": 600,
 "used_tokens_limit": 2000000
} */
